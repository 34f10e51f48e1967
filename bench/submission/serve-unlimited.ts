import { pathToFileURL } from 'node:url'

import { SendingLimits } from '#mail/sending/sending-limits.ts'

/** The service without the limits of messages a minute, which would end the measurement within seconds. */
SendingLimits.prototype.count = () => Promise.resolve()

await import(pathToFileURL(`${import.meta.dirname}/../../src/main.ts`).href)
