import { echoTenant, jobTenant } from '#bench/job-calls.ts'
import { PAYLOAD_LENGTHS } from '#bench/payload-lengths.ts'
import type { IsWanted, Subject, SubjectName } from '#bench/subject.ts'
import { denoBinary } from '#sandbox/guest/testing/deno.ts'

import { startScriptServer } from './script-server.ts'

const HOST = 'bench.test'

/** Servers with the job in them and nothing around it: what HTTP itself costs. */
export async function startBareSubjects(
  isWanted: IsWanted,
  running: AsyncDisposableStack,
): Promise<Subject[]> {
  const subjects: Subject[] = []
  const job = jobTenant({ host: HOST, path: '/data/job' })
  if (isWanted('bun', 'bun-20kb', 'bun-1mb')) {
    const { origin, pid } = running.use(await startScriptServer(['bun'], 'bare-bun-server.ts'))
    const echo = (name: SubjectName, length: number): Subject => ({
      name,
      origin,
      pid,
      tenants: [echoTenant({ host: HOST, path: '/data/echo' }, length)],
    })
    subjects.push(
      { name: 'bun', origin, pid, tenants: [job] },
      echo('bun-20kb', PAYLOAD_LENGTHS['20kb']),
      echo('bun-1mb', PAYLOAD_LENGTHS['1mb']),
    )
  }
  if (isWanted('deno')) {
    const command = [denoBinary(), 'run', '--quiet', '--allow-net'] as const
    const server = running.use(await startScriptServer(command, 'bare-deno-server.ts'))
    subjects.push({ name: 'deno', ...addressOf(server), tenants: [job] })
  }
  if (isWanted('elysia-echo')) {
    const server = running.use(await startScriptServer(['bun'], 'elysia-echo-server.ts'))
    subjects.push({ name: 'elysia-echo', ...addressOf(server), tenants: [job] })
  }
  return subjects.filter(({ name }) => isWanted(name))
}

const addressOf = ({ origin, pid }: { origin: string; pid: number }) => ({ origin, pid })
