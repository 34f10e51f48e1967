/** Looks often while there is something to watch, and rarely or never while there is nothing. Keeps no process from ending. */
export class RestingTimer implements Disposable {
  readonly #deps
  #timer: NodeJS.Timeout | undefined
  #isAwake = false
  #isOver = false
  /** When there last was something to watch. */
  #busyMs = 0

  constructor(deps: {
    /** Returns whether there is anything to watch. */
    look(nowMs: number): boolean
    readonly everyMs: number
    /** How often it looks while there is nothing; never when left out. */
    readonly restMs?: number
    /** How long there must have been nothing; a second when left out. */
    readonly calmMs?: number
  }) {
    this.#deps = deps
    this.#rest()
  }

  /** There may be something from now on. Cheap where it is awake. */
  wake(nowMs: number): void {
    this.#busyMs = nowMs
    if (this.#isAwake || this.#isOver) return
    this.#isAwake = true
    this.#every(this.#deps.everyMs)
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    clearInterval(this.#timer)
  }

  #look(): void {
    const nowMs = performance.now()
    const { calmMs = 1000 } = this.#deps
    if (this.#deps.look(nowMs)) this.wake(nowMs)
    else if (this.#isAwake && nowMs - this.#busyMs >= calmMs) this.#rest()
  }

  #rest(): void {
    this.#isAwake = false
    this.#every(this.#deps.restMs)
  }

  #every(ms: number | undefined): void {
    clearInterval(this.#timer)
    this.#timer = ms === undefined ? undefined : setInterval(() => this.#look(), ms).unref()
  }
}
