import { Elysia } from 'elysia'

import type { AppContext } from '#context'

import { authority } from './plugins/authority.ts'

/** Named when they are away, but nothing that is served needs them. */
const OPTIONAL_PARTS: ReadonlySet<string> = new Set(['redis'])

/** For load balancers: `/healthz` says that the process lives, `/readyz` names what is not ready. */
export const healthRoutes = (context: AppContext) =>
  new Elysia()
    .get('/healthz', () => ({ status: 'ok' }), {
      detail: authority('open', 'says only that the process lives'),
    })
    .get(
      '/readyz',
      async () => {
        const checks = await context.checkReadiness()
        const ready = Object.entries(checks).every(
          ([part, check]) => check === 'ok' || OPTIONAL_PARTS.has(part),
        )
        return Response.json(
          { status: ready ? 'ready' : 'not ready', checks },
          { status: ready ? 200 : 503 },
        )
      },
      { detail: authority('open', 'names parts of the installation, no tenant') },
    )
