import { echoTenant, itemTenant, jobTenant } from '#bench/job-calls.ts'
import type { Tenant } from '#bench/load/load-plan.ts'
import { PAYLOAD_LENGTHS } from '#bench/payload-lengths.ts'
import type { IsWanted, Subject, SubjectName } from '#bench/subject.ts'

import type { ScriptServer } from './script-server.ts'
import { manyWorkersConfig, oneWorkerConfig } from './workerd-config.ts'
import { startWorkerd, startWorkerdPerCore, type WorkerdProcess } from './workerd.ts'

const TARGET = { host: 'bench.test', path: '/data/job' }
const JOB = jobTenant(TARGET)

interface WorkerdSubject {
  readonly name: SubjectName
  readonly tenants: readonly Tenant[]
  readonly start: () => Promise<WorkerdProcess>
}

/** Cloudflare's runtime with each of the workloads; each subject is a process of its own, or several. */
export async function startWorkerdSubjects(
  isWanted: IsWanted,
  items: ScriptServer | undefined,
  running: AsyncDisposableStack,
): Promise<Subject[]> {
  const subjects: Subject[] = []
  for (const { name, tenants, start } of plansOf(items)) {
    if (!isWanted(name)) continue
    const { origin, pid, alsoPids } = running.use(await start())
    subjects.push({ name, origin, pid, alsoPids, tenants })
  }
  return subjects
}

const plansOf = (items: ScriptServer | undefined): readonly WorkerdSubject[] => [
  {
    name: 'workerd',
    tenants: [JOB],
    start: () => startWorkerd(oneWorkerConfig({ worker: 'job' }, 'opened')),
  },
  {
    name: 'workerd-per-core',
    tenants: [JOB],
    start: () => startWorkerdPerCore(oneWorkerConfig({ worker: 'job' }, 'inherited')),
  },
  manyWorkers('workerd-10', 10),
  manyWorkers('workerd-100', 100),
  echo('workerd-20kb', PAYLOAD_LENGTHS['20kb']),
  echo('workerd-1mb', PAYLOAD_LENGTHS['1mb']),
  ...(items ? [subrequest(items)] : []),
]

function manyWorkers(name: SubjectName, count: number): WorkerdSubject {
  const hosts = Array.from({ length: count }, (_, at) => `bench-${at + 1}.test`)
  return {
    name,
    tenants: hosts.map((host) => jobTenant({ ...TARGET, host })),
    start: () => startWorkerd(manyWorkersConfig(hosts)),
  }
}

const echo = (name: SubjectName, length: number): WorkerdSubject => ({
  name,
  tenants: [echoTenant(TARGET, length)],
  start: () => startWorkerd(oneWorkerConfig({ worker: 'echo' }, 'opened')),
})

const subrequest = ({ origin }: ScriptServer): WorkerdSubject => ({
  name: 'workerd-subrequest',
  tenants: [itemTenant(TARGET)],
  start: () =>
    startWorkerd(oneWorkerConfig({ worker: 'item', itemsAddress: new URL(origin).host }, 'opened')),
})
