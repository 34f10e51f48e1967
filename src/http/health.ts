import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'

import { authority } from './plugins/authority.ts'
import { operatorAuth, operatorKeyCheck } from './plugins/operator-auth.ts'
import { authNameFindings } from './portal/auth-name-findings.ts'

/** Named when they are away, but most of what is served needs none of them: what does gets 503. */
const OPTIONAL_PARTS: ReadonlySet<string> = new Set(['redis', 'objects', 'disk'])

/** Machines ask them every few seconds. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

export const isProbe = (path: string): boolean => PROBES.has(path)

/** What the operator sees of an installation. */
const Diagnosis = Type.Object({
  status: Type.Union([Type.Literal('ready'), Type.Literal('not ready')]),
  checks: Type.Record(Type.String(), Type.String()),
  /** The walls around the processes that run site code. */
  walls: Type.Array(
    Type.Object({
      wall: Type.String(),
      stands: Type.Boolean(),
      reason: Type.Union([Type.String(), Type.Null()]),
      needed: Type.Boolean(),
    }),
  ),
  /** What was tried for real, and what will hurt. */
  findings: Type.Array(
    Type.Object({
      part: Type.String(),
      level: Type.Union([Type.Literal('ok'), Type.Literal('warning'), Type.Literal('problem')]),
      says: Type.String(),
      advice: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
})

/**
 * For load balancers: `/healthz` says that the process lives, `/readyz` names what is not ready. With the operator key it also
 * says which walls exist around site code: an attacker need not know.
 */
export const healthRoutes = (context: AppContext) => {
  const holdsKey = operatorKeyCheck(context)
  return new Elysia()
    .get('/healthz', () => ({ status: 'ok' }), {
      detail: authority('open', 'says only that the process lives'),
    })
    .get(
      '/readyz',
      async ({ request }) => {
        const readiness = await readinessOf(context)
        return Response.json(
          holdsKey(request.headers) ? { ...readiness, walls: context.sandboxWalls() } : readiness,
          { status: readiness.status === 'ready' ? 200 : 503 },
        )
      },
      { detail: authority('open', 'names parts of the installation, no tenant') },
    )
}

/** What `croft doctor` asks. */
export const portalDiagnosisRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/diagnosis' }).use(operatorAuth(context)).get(
    '/',
    async () => {
      const [readiness, findings, names] = await Promise.all([
        readinessOf(context),
        context.examine(),
        authNameFindings(context),
      ])
      const walls = [...context.sandboxWalls()]
      return { ...readiness, walls, findings: [...findings, ...names] }
    },
    { operator: true, summary: 'Diagnose the installation', response: Diagnosis },
  )

async function readinessOf(context: AppContext) {
  const checks = await context.checkReadiness()
  const ready = Object.entries(checks).every(
    ([part, check]) => check === 'ok' || OPTIONAL_PARTS.has(part),
  )
  return { status: ready ? ('ready' as const) : ('not ready' as const), checks }
}
