import { addBusinessDays, differenceInCalendarDays, format, parseISO } from 'date-fns'
import { de } from 'date-fns/locale/de'

export default ({ payload }: { payload: { from: string; days: number } }) => {
  const from = parseISO(payload.from)
  const until = addBusinessDays(from, payload.days)
  return {
    until: format(until, 'EEEE, d. MMMM yyyy', { locale: de }),
    days: differenceInCalendarDays(until, from),
  }
}
