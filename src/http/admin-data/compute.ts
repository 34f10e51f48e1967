import { createHash } from 'node:crypto'

import { Elysia } from 'elysia'

import { statusOf } from '#base/error-status.ts'
import type { AppContext } from '#context'
import { recordAudit } from '#http/audited.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { scopeOf } from '#http/request-scope.ts'
import type { ComputeResult } from '#runtime/compute/compute.ts'
import { ComputeAnswer, ComputeBody } from '#runtime/compute/model.ts'

/** Ad-hoc code: a result, or why there is none, with what it printed. */
export const computeRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/compute' }).use(adminAuth(context)).post(
    '/execute',
    async ({ site, by, body, request }) => {
      const { requestId } = scopeOf(request)
      const detail = { characters: body.code.length, sha256: hashOf(body.code) }
      await recordAudit(context, site.siteId, by, { event: 'compute.executed', detail })
      return answer(await context.compute.execute(site, requestId, body), requestId)
    },
    {
      role: 'admin',
      summary: 'Run code once',
      errors: [
        'DataRuntimeProvisioning',
        'ExecutionFailed',
        'ExecutionTimeout',
        'InvalidCode',
        'InvalidOperationResult',
        'MemoryLimitExceeded',
        'OperationInterrupted',
        'OperationOverloaded',
      ],
      changes: { audit: ['compute.executed'], effects: [] },
      body: ComputeBody,
      response: ComputeAnswer,
    },
  )

const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex')

function answer({ data, logs, durationMs }: ComputeResult, requestId: string): Response {
  const rest = { logs, durationMs }
  if (typeof data === 'string') {
    // The result is JSON text already: it is put in as it is.
    const tail = JSON.stringify(rest).slice(1)
    return new Response(`{"ok":true,"data":${data},${tail}`, {
      headers: { 'content-type': 'application/json' },
    })
  }
  const { code, message, details, fields, retryAfterSeconds } = data
  const error = { code, message, requestId, ...(details ? { details } : {}), ...fields }
  return Response.json(
    { ok: false, error, ...rest },
    {
      status: statusOf(data),
      headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
    },
  )
}
