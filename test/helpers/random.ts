/** Seeded random numbers (mulberry32), so that a failure can be made again. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number in [0, below). */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }
}

/** A copy of `bytes` with a few faults: bits flipped, bytes replaced, parts cut out, doubled, or set to 0xff. */
export function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  let mutated: Uint8Array = bytes.slice();
  for (let n = 1 + random.below(3); n > 0 && mutated.length > 0; n--) {
    const at = random.below(mutated.length);
    const length = 1 + random.below(Math.min(64, mutated.length - at));
    switch (random.below(6)) {
      case 0:
        mutated[at] = (mutated[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 1:
        mutated[at] = random.below(256);
        break;
      case 2:
        mutated = mutated.subarray(0, at);
        break;
      case 3:
        mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(at + length)]);
        break;
      case 4:
        mutated = Buffer.concat([mutated.subarray(0, at + length), mutated.subarray(at)]);
        break;
      default:
        mutated.fill(0xff, at, at + Math.min(length, 8));
    }
  }
  return mutated;
}
