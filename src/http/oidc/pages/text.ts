/** Messages of the API end without a full stop; on pages they end with one. */
export const withFullStop = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

export const capitalized = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}`

export function durationOf(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds))
  if (whole < 90) return whole === 1 ? 'a second' : `${whole} seconds`
  return `${Math.ceil(whole / 60)} minutes`
}
