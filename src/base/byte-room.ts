/** Memory that several share, as one of them has it. */
export interface ByteRoom {
  /** True when that many bytes more may be held: at once, or in turn. False when the signal came first. */
  take(bytes: number, signal: AbortSignal): Promise<boolean>
  /** Of what was taken and turned out not to be needed. */
  giveBack(bytes: number): void
}
