const SPELLING =
  /^(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat) (\w{3}) (\d{1,2}) (\d\d):(\d\d):(\d\d) UTC (\d{4})$/
const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'

/** `ddd MMM D HH:mm:ss UTC YYYY`, in English and as Cognito's clients write it; undefined for any other spelling. */
export function timestampOf(text: string): Date | undefined {
  const [, month = '', day, hours, minutes, seconds, year] = SPELLING.exec(text) ?? []
  const at = MONTHS.indexOf(month)
  if (month === '' || at % 3 !== 0) return undefined
  const date = new Date(
    Date.UTC(Number(year), at / 3, Number(day), Number(hours), Number(minutes), Number(seconds)),
  )
  return timestampText(date) === text ? date : undefined
}

export function timestampText(date: Date): string {
  const [weekday, day, month, year, time] = date.toUTCString().replace(',', '').split(' ')
  return `${weekday} ${month} ${Number(day)} ${time} UTC ${year}`
}
