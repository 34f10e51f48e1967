import { useMemo } from 'preact/hooks'

import { useGet } from '#app/api/resources.ts'

import { type PeriodName, periodUntil, startOf } from './usage-series.ts'

/** The usage of a period until now. Parts of the page that show the same period share one request. */
export function useUsage(name: PeriodName) {
  const period = useMemo(() => periodUntil(name, Date.now()), [name])
  const usage = useGet('/admin/data/usage', {
    query: { from: new Date(startOf(period)).toISOString() },
  })
  return { period, usage }
}
