import type { Config } from '#config/config.ts'
import type { Mail } from '#mail/mail.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import type { Runtime } from '#runtime/runtime.ts'

interface ReadinessPlatform {
  readonly config: Pick<Config, 'roles'>
  readonly postgres: Pick<PostgresPlatform, 'database'>
  readonly sharedCache: Pick<SharedCache, 'ping'>
}

type ReadinessServices = Pick<Runtime, 'sandbox'> & Pick<Mail, 'smtp' | 'submission'>

/** What `/readyz` tells. Every value other than `ok` says what is wrong. */
export async function checkReadiness(
  { config, postgres, sharedCache }: ReadinessPlatform,
  objects: Pick<ObjectStore, 'ping'>,
  { sandbox, smtp, submission }: ReadinessServices,
): Promise<Readonly<Record<string, string>>> {
  const answers = (check: Promise<unknown>): Promise<string> =>
    check.then(
      () => 'ok',
      () => 'does not answer',
    )
  const [database, store, redis] = await Promise.all([
    answers(postgres.database.ping()),
    answers(objects.ping()),
    sharedCache.ping(),
  ])
  return {
    postgres: database,
    objects: store,
    sandbox: sandbox.status().ready ? 'ok' : 'starting',
    ...(config.roles.includes('mail')
      ? { smtp: listens(smtp), submission: listens(submission) }
      : {}),
    ...(redis === null ? {} : { redis: redis === 'ok' ? 'ok' : 'does not answer' }),
  }
}

const listens = ({ isListening }: Pick<Mail['smtp'], 'isListening'>): string =>
  isListening ? 'ok' : 'does not listen'
