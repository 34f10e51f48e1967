export interface Reading {
  /** Each start of the service is a life of its own: what it held is gone with it. */
  readonly life: number
  readonly minute: number
  readonly value: number
}

/** How fast the value grows within a life, per minute: the common slope of all lives by least squares; 0 of too little. */
export function growthPerMinute(readings: readonly Reading[]): number {
  let product = 0
  let square = 0
  for (const life of Map.groupBy(readings, (reading) => reading.life).values()) {
    const middle = mean(life.map(({ minute }) => minute))
    const level = mean(life.map(({ value }) => value))
    for (const { minute, value } of life) {
      product += (minute - middle) * (value - level)
      square += (minute - middle) ** 2
    }
  }
  return square === 0 ? 0 : product / square
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
