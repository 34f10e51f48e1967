import { pathToFileURL } from 'node:url'

import { RATE_LIMITS } from '#platform/rate-limits/rate-limits.ts'

/** The service without the limits of recipients a minute, which would end the measurement within seconds. */
const { sendingMailboxPerMinute, sendingSitePerMinute } = RATE_LIMITS
for (const limit of [sendingMailboxPerMinute, sendingSitePerMinute])
  Object.assign(limit, { most: Infinity })

await import(pathToFileURL(`${import.meta.dirname}/../../src/main.ts`).href)
