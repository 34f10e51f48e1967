import { withFallback } from '#base/with-timeout.ts'
import type { Config } from '#config/config.ts'
import type { Mail } from '#mail/mail.ts'
import type { WatchedDisks } from '#platform/disk/disk-room.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import type { Runtime } from '#runtime/runtime.ts'

interface ReadinessPlatform {
  readonly config: Pick<Config, 'roles'>
  readonly postgres: Pick<PostgresPlatform, 'database'>
  readonly sharedCache: Pick<SharedCache, 'ping'>
  readonly disk: Pick<WatchedDisks, 'disks'>
}

type ReadinessServices = Pick<Runtime, 'sandbox'> & Pick<Mail, 'smtp' | 'submission'>

/** How long a part may take to answer. Who asks wants to know within two seconds. */
const ANSWER_MS = 1500

/** What `/readyz` tells. Every value other than `ok` says what is wrong. */
export async function checkReadiness(
  { config, postgres, sharedCache, disk }: ReadinessPlatform,
  objects: Pick<ObjectStore, 'ping'>,
  { sandbox, smtp, submission }: ReadinessServices,
): Promise<Readonly<Record<string, string>>> {
  const [database, store, redis] = await Promise.all([
    answerOf(postgres.database.ping()),
    answerOf(objects.ping()),
    answerOf(sharedCache.ping()),
  ])
  return {
    postgres: said(database),
    objects: said(store),
    disk: disk.disks.some(({ isFull }) => isFull) ? 'below its reserve' : 'ok',
    sandbox: sandbox.status().ready ? 'ok' : 'starting',
    ...(config.roles.includes('mail')
      ? { smtp: listens(smtp), submission: listens(submission) }
      : {}),
    ...(redis === null ? {} : { redis: redis === 'ok' ? 'ok' : NO_ANSWER }),
  }
}

const NO_ANSWER = 'does not answer'

const said = (answer: unknown): string => (answer === NO_ANSWER ? NO_ANSWER : 'ok')

/** What a part answers, or that it does not. */
const answerOf = <Answer>(asked: Promise<Answer>): Promise<Answer | typeof NO_ANSWER> =>
  withFallback(asked, ANSWER_MS, NO_ANSWER)

const listens = ({ isListening }: Pick<Mail['smtp'], 'isListening'>): string =>
  isListening ? 'ok' : 'does not listen'
