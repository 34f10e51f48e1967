import type { ArchiveManifest, MissingSecret } from '#archives/archive-format.ts'

import { printable } from './columns.ts'
import type { Invocation } from './command.ts'

const EVERY_MS = 2000

/** Tells how far something is, every two seconds. */
export function reportProgress({ progress }: Pick<Invocation, 'progress'>) {
  let toldAtMs = performance.now()
  return (line: () => string): void => {
    if (performance.now() - toldAtMs < EVERY_MS) return
    toldAtMs = performance.now()
    progress(line())
  }
}

/** `3 resources, 100 items, 5 objects` */
export function archiveText({ rows, objects }: Pick<ArchiveManifest, 'rows' | 'objects'>): string {
  const counted = (count: number | undefined, one: string): string[] =>
    count === undefined || count === 0 ? [] : [`${count} ${one}${count === 1 ? '' : 's'}`]
  return [
    ...counted(rows['data_resource'], 'resource'),
    ...counted(rows['data_operation'], 'operation'),
    ...counted(rows['data_job'], 'job'),
    ...counted(rows['items'], 'item'),
    ...counted(objects, 'object'),
    ...counted(rows['pool_user'], 'user'),
    ...counted(rows['mailbox'], 'mailbox').map((text) => text.replace('boxs', 'boxes')),
    ...counted(rows['mail_message'], 'message'),
  ].join(', ')
}

export const missingText = (missing: readonly MissingSecret[]): string[] =>
  missing.length === 0
    ? []
    : [
        'Left behind, to be set again there (or export with keys):',
        ...missing.map(({ kind, name }) => `  ${kind} ${printable(name)}`),
      ]
