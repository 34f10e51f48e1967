/** The yardstick: the same job in one route on Bun, without sites, tokens, limits or a sandbox. */
import { Elysia } from 'elysia'

import { type JobPayload, answer } from '#bench/json-job.ts'

const app = new Elysia()
  .post('/data/job', ({ body }) => ({ ok: true, data: answer((body as Body).payload) }))
  .listen({ hostname: '127.0.0.1', port: 0 })

console.log(`port ${app.server?.port}`)

interface Body {
  readonly payload: JobPayload
}
