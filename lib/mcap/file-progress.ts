/** How far a file has been handed out: its offset, the CRC of its data section, and what its summary will say. */
import { combineCrc32, crc32 } from './crc.js';
import { SummaryIndex } from './summary-index.js';
import type { SummarySettings } from './summary-index.js';

export class FileProgress {
  readonly summary: SummaryIndex;
  readonly enableCrcs: boolean;
  readonly padding: Uint8Array | undefined;
  /** Bytes handed out. */
  offset = 0;
  /** CRC-32 of them, where CRCs are written. */
  crc = 0;

  constructor(settings: SummarySettings) {
    this.summary = new SummaryIndex(settings);
    this.enableCrcs = settings.enableCrcs;
    this.padding = settings.padRecords;
  }

  /** The next bytes of the data section. */
  advance(bytes: Uint8Array): void {
    this.offset += bytes.length;
    if (this.enableCrcs) this.crc = crc32(bytes, this.crc);
  }

  /** Bytes whose CRC is known. */
  advanceBy(length: number, crc: number): void {
    this.offset += length;
    if (this.enableCrcs) this.crc = combineCrc32(this.crc, crc, length);
  }

  close(): void {
    this.summary.close();
  }
}
