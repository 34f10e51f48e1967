/** Whole milliseconds of a clock that only runs forward: what waits by it waits as long when the machine's clock is set. */
export const steadyNowMs = (): number => Math.floor(performance.now())
