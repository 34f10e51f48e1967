import { setTimeout as delay } from 'node:timers/promises'

import { type Static, Type } from '@sinclair/typebox'

import type { Invocation } from './command.ts'
import { sitePath } from './service-client.ts'

const WAIT_MS = 900_000
const POLL_MS = 150

export const DefinitionJob = Type.Object({
  jobId: Type.String(),
  status: Type.String(),
  error: Type.Union([Type.String(), Type.Null()]),
  finishedAt: Type.Union([Type.String(), Type.Null()]),
  summary: Type.Object({
    created: Type.Integer(),
    updated: Type.Integer(),
    renamed: Type.Integer(),
    deleted: Type.Integer(),
    unchanged: Type.Integer(),
    failed: Type.Integer(),
    changes: Type.Array(
      Type.Object({
        section: Type.String(),
        name: Type.String(),
        action: Type.String(),
        status: Type.String(),
        fields: Type.Optional(Type.Array(Type.String())),
        error: Type.Optional(Type.String()),
        renamedFrom: Type.Optional(Type.String()),
        note: Type.Optional(Type.String()),
      }),
    ),
  }),
})
export type DefinitionJob = Static<typeof DefinitionJob>

const Answer = Type.Object({ job: Type.Union([DefinitionJob, Type.Null()]) })

/** Waits until a deployment's definition is applied, for 15 minutes at most. Returns null for a deployment without one. */
export function waitForDefinition(
  call: Invocation,
  siteId: string,
  deploymentId: string,
): Promise<DefinitionJob | null> {
  const path = sitePath(siteId, `/deployments/${deploymentId}/iac-job`)
  return watchJob(call, 'croft.json', async () => {
    const { job } = await call.service.portalAs(Answer, 'GET', path)
    return job
  })
}

/** Waits until a job has ended, for 15 minutes at most, and reports its progress under that name. */
export async function watchJob<Job extends DefinitionJob | null>(
  call: Invocation,
  name: string,
  read: () => Promise<Job>,
): Promise<Job> {
  const deadline = Date.now() + WAIT_MS
  let shown = ''
  for (;;) {
    const job = await read()
    if (job === null || job.finishedAt !== null || Date.now() > deadline) return job
    const text = progressText(name, job)
    if (text !== shown) call.progress(text)
    shown = text
    await delay(POLL_MS)
  }
}

/** Returns why a definition was not applied whole, or undefined when it was. */
export function definitionError(job: DefinitionJob | null): string | undefined {
  if (job === null || job.status === 'succeeded') return undefined
  return `croft.json was not carried out whole: ${job.error ?? `its job ${job.jobId} is ${job.status}`}`
}

function progressText(name: string, { status, summary: { changes } }: DefinitionJob): string {
  if (changes.length === 0) return `${name}: ${status}`
  const waiting = changes.filter((change) => change.status === 'pending').length
  return `${name}: ${changes.length - waiting}/${changes.length}`
}
