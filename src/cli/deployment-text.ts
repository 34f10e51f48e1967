import type { ActivationRecord } from '#sites/deployments/activation-record.ts'
import type { Deployer } from '#sites/deployments/deployer.ts'
import type { DeploymentRecord } from '#sites/deployments/model.ts'

const COMMIT_LENGTH = 12

const ACTORS: Readonly<Record<Deployer['type'], string>> = {
  operator: 'the operator',
  user: 'user',
  deployToken: 'token',
  gitPush: 'push with token',
  webhook: 'webhook',
  service: 'the service',
}

const REASONS: Readonly<Record<ActivationRecord['reason'], string>> = {
  deploy: 'deployed',
  rollback: 'rolled back to',
  automaticRollback: 'rolled back to by itself',
}

const ROLLBACKS = {
  due: 'to be rolled back',
  done: 'rolled back',
  failed: 'could not be rolled back',
} as const

/** `token "ci"` */
export function actorText(actor: Deployer | null): string {
  if (actor === null) return 'unknown'
  const words = ACTORS[actor.type]
  return actor.name === null ? words : `${words} "${actor.name}"`
}

/** `0123456789ab main +changes` */
export function gitText({ git }: Pick<DeploymentRecord, 'git'>): string {
  if (git === null) return ''
  const commit = git.commit.slice(0, COMMIT_LENGTH)
  return [commit, git.branch ?? '', git.dirty ? '+changes' : ''].filter(Boolean).join(' ')
}

export const reasonText = ({ reason }: Pick<ActivationRecord, 'reason'>): string => REASONS[reason]

/** `+3 ~1 -0 files` */
export function changeText({ fileChanges }: Pick<ActivationRecord, 'fileChanges'>): string {
  if (fileChanges === null) return ''
  const { added, changed, removed } = fileChanges
  return `+${added} ~${changed} -${removed} files`
}

/** `3 of 12 calls failed` */
export function healthText({ health, automaticRollback }: ActivationRecord): string {
  const { calls, failures } = health
  const counted = calls === 0 ? '' : `${failures} of ${calls} calls failed`
  if (automaticRollback === null) return counted
  const { status, error } = automaticRollback
  return `${counted}, ${ROLLBACKS[status]}${error === null ? '' : `: ${error}`}`
}

/** `1.4 MB` */
export function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB']
  let [value, at] = [bytes, 0]
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000
    at += 1
  }
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`
}
