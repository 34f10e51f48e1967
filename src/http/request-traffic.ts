import { DurationHistogram } from '#base/duration-histogram.ts'
import { TallyTable } from '#base/tally.ts'
import type { HttpServerOptions } from '#platform/http-server/http-server.ts'

import { pathOf } from './url-path.ts'

type Fetch = HttpServerOptions['fetch']

/** What requests are for, by the first part of their path. */
const FAMILIES = [
  'calls',
  'files',
  'sign_in',
  'admin',
  'portal',
  'objects',
  'git',
  'probes',
] as const
type RequestFamily = (typeof FAMILIES)[number]

const BY_FIRST_PART: ReadonlyMap<string, RequestFamily> = new Map([
  ['data', 'calls'],
  ['oidc', 'sign_in'],
  ['admin', 'admin'],
  ['portal', 'portal'],
  ['objects', 'objects'],
  ['site.git', 'git'],
  ['healthz', 'probes'],
  ['livez', 'probes'],
  ['readyz', 'probes'],
  ['metrics', 'probes'],
  ['tls-permission', 'probes'],
])

const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const

/** The requests of all sites since the start. */
export class RequestTraffic {
  readonly requests = new TallyTable(FAMILIES, STATUS_CLASSES)
  /** Until the head of the answer: a stream may go on long after. */
  readonly durations: ReadonlyMap<RequestFamily, DurationHistogram> = new Map(
    FAMILIES.map((family) => [family, new DurationHistogram()]),
  )

  /** The same, and each response is counted once it is made, without delaying it. */
  counting(fetch: Fetch): Fetch {
    return (request, peer) => {
      const startedAt = performance.now()
      const family = requestFamilyOf(pathOf(request.url))
      const answer = fetch(request, peer)
      if (answer instanceof Response) this.#ended(family, answer, startedAt)
      else answer.then((response) => this.#ended(family, response, startedAt)).catch(() => {})
      return answer
    }
  }

  #ended(family: RequestFamily, { status }: Response, startedAt: number): void {
    this.requests.add(family, STATUS_CLASSES[Math.floor(status / 100) - 2] ?? '2xx')
    this.durations.get(family)?.observe(performance.now() - startedAt)
  }
}

function requestFamilyOf(path: string): RequestFamily {
  const end = path.indexOf('/', 1)
  return BY_FIRST_PART.get(end === -1 ? path.slice(1) : path.slice(1, end)) ?? 'files'
}
