import { jobTenant, readJobSource } from '#bench/job-calls.ts'
import type { Subject, SubjectName } from '#bench/subject.ts'
import { waitUntil } from '#bench/wait-until.ts'

import type { CroftProcess } from './croft-process.ts'
import { CroftSite } from './croft-site.ts'

const HANDLER = '\nexport default ({ payload }: { payload: JobPayload }) => answer(payload)\n'
const CACHE_SECONDS = 3600
const MANY_SITES = 10

/** The job as an operation of one site, cached and not, and of ten sites; each call with a visitor's token. */
export async function croftSubjects(croft: CroftProcess): Promise<Subject[]> {
  const code = (await readJobSource()) + HANDLER
  const sites: CroftSite[] = []
  for (let at = 1; at <= MANY_SITES; at += 1) sites.push(await publishedSite(croft, at, code))

  const subject = (name: SubjectName, operation: string, on: readonly CroftSite[]): Subject => ({
    name,
    origin: croft.origin,
    pid: croft.pid,
    tenants: on.map(({ domain, visitorToken }) =>
      jobTenant({ host: domain, path: `/data/${operation}`, token: visitorToken }),
    ),
  })
  return [
    subject('cached', 'cached', sites.slice(0, 1)),
    subject('warm', 'warm', sites.slice(0, 1)),
    subject('warm-10-sites', 'warm', sites),
  ]
}

async function publishedSite(croft: CroftProcess, at: number, code: string): Promise<CroftSite> {
  const site = await CroftSite.create(croft, `bench-${at}.test`)
  const resourceId = await site.createFunction('job', code)
  await site.createOperation('warm', resourceId, 0)
  await site.createOperation('cached', resourceId, CACHE_SECONDS)
  await site.synced()
  for (const operation of ['warm', 'cached']) {
    await waitUntil(`answer of "${operation}" on "${site.domain}"`, async () => {
      const { status, text } = await site.call(operation, { name: 'Ada', n: 1 })
      if (status !== 200 && status !== 503)
        throw new Error(`${operation} answered ${status}: ${text}`)
      return status === 200
    })
  }
  return site
}
