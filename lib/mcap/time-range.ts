/** First and last of some times. That there is none yet is a state of its own: 0 is a time like any other. */
export class TimeRange {
  isEmpty = true;
  /** ns; 0 where there is none. */
  start = 0n;
  end = 0n;

  add(time: bigint): void {
    if (this.isEmpty) {
      this.start = this.end = time;
      this.isEmpty = false;
    } else if (time > this.end) this.end = time;
    else if (time < this.start) this.start = time;
  }

  include(other: TimeRange): void {
    if (other.isEmpty) return;
    this.add(other.start);
    this.add(other.end);
  }

  clear(): void {
    this.isEmpty = true;
    this.start = this.end = 0n;
  }
}
