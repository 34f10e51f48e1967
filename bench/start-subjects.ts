import { fileURLToPath } from 'node:url'

import { type CroftProcess, startCroft } from './croft/croft-process.ts'
import { croftSubjects, fetchSubject } from './croft/croft-subjects.ts'
import { type IsWanted, type Subject, SUBJECTS } from './subject.ts'
import { startBareSubjects } from './subjects/bare-subjects.ts'
import { startScriptServer } from './subjects/script-server.ts'
import { startWorkerdSubjects } from './subjects/workerd-subjects.ts'

const WITH_LOOPBACK = fileURLToPath(new URL('croft/serve-with-loopback.ts', import.meta.url))
const ON_CROFT = [
  'cached',
  'warm',
  'warm-10-sites',
  'warm-100-sites',
  'warm-20kb',
  'warm-1mb',
  'table-get',
] as const

export interface StartOptions {
  readonly isWanted: IsWanted
  /** Whether publishes are measured, too. */
  readonly isColdWanted: boolean
  readonly progress: (words: string) => void
}

export interface Started {
  readonly subjects: readonly Subject[]
  /** Undefined when nothing of it is to be measured. */
  readonly croft: CroftProcess | undefined
}

/** Everything that is to be measured runs at once, so that rounds can go through all of it in turn. */
export async function startSubjects(
  { isWanted, isColdWanted, progress }: StartOptions,
  running: AsyncDisposableStack,
): Promise<Started> {
  const items = isWanted('workerd-subrequest', 'fetch')
    ? running.use(await startScriptServer(['bun'], 'item-server.ts'))
    : undefined
  const subjects = await startBareSubjects(isWanted, running)
  subjects.push(...(await startWorkerdSubjects(isWanted, items, running)))
  if (items && isWanted('fetch')) {
    progress('starting Croft for fetch')
    const croft = running.use(await startCroft(['bun', WITH_LOOPBACK]))
    subjects.push(await fetchSubject(croft, items))
  }
  if (!isColdWanted && !isWanted(...ON_CROFT)) return { subjects, croft: undefined }
  progress('starting Croft')
  const croft = running.use(await startCroft())
  if (isWanted(...ON_CROFT)) {
    progress('making sites')
    subjects.push(...(await croftSubjects(croft, isWanted)))
  }
  const inOrder = subjects.toSorted(
    (one, other) => SUBJECTS.indexOf(one.name) - SUBJECTS.indexOf(other.name),
  )
  return { subjects: inOrder, croft }
}
