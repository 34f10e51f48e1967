/** What the service uses of big.js: its sums round nothing. */
declare module 'big.js' {
  export class Big {
    /** The sign, 1 or -1; the power of ten of the first digit; the digits, without zeros at either end. */
    readonly s: number
    readonly e: number
    readonly c: readonly number[]
    constructor(text: string)
    plus(other: Big | string): Big
    minus(other: Big | string): Big
    cmp(other: Big | string): -1 | 0 | 1
    /** Plain notation. */
    toFixed(): string
  }
}
