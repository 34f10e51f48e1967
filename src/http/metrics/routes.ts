import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { authority } from '#http/plugins/authority.ts'

import { EXPOSITION_TYPE, exposition } from './exposition.ts'
import { type Installation, type ProcessWatch, readInstallation } from './installation.ts'
import type { Metric } from './metric.ts'
import { PROCESS_METRICS } from './process-metrics.ts'
import { REQUEST_METRICS } from './request-metrics.ts'
import { SANDBOX_METRICS } from './sandbox-metrics.ts'
import { STORE_METRICS } from './store-metrics.ts'
import { WORK_METRICS } from './work-metrics.ts'

/** All of `/metrics`. */
export const METRICS: readonly Metric<Installation>[] = [
  ...PROCESS_METRICS,
  ...REQUEST_METRICS,
  ...SANDBOX_METRICS,
  ...STORE_METRICS,
  ...WORK_METRICS,
]

/** For Prometheus, at the operator's listener alone. */
export const metricsRoutes = (context: AppContext, watch: ProcessWatch) =>
  new Elysia().get(
    '/metrics',
    async () => {
      const installation = await readInstallation(context, watch)
      const text = exposition(METRICS, installation, (metric, error) =>
        context.logger.error({ err: error, metric }, 'a metric cannot be read'),
      )
      return new Response(text, { headers: { 'content-type': EXPOSITION_TYPE } })
    },
    { detail: authority('open', 'counts of the whole installation, which name no tenant') },
  )
