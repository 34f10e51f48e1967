import { pathToFileURL } from 'node:url'

import { HttpEgress } from '#platform/egress/http-egress.ts'

/** The service with functions that may fetch from this machine: a measurement has no other host to fetch from. */
const anywhere = new HttpEgress({ isPublic: () => true })
// oxlint-disable-next-line typescript/unbound-method -- it is called with a receiver
const ofAnyone = HttpEgress.prototype.fetch
HttpEgress.prototype.fetch = (request, policy, signal) =>
  ofAnyone.call(anywhere, request, policy, signal)

await import(pathToFileURL(`${import.meta.dirname}/../../src/main.ts`).href)
