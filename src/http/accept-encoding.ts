import { LRUCache } from 'lru-cache'

const MAX_HEADER_CHARACTERS = 200
const WEIGHT = /^q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i

/** One form of a file. */
export interface Encoded {
  /** Undefined for the file as it is. */
  readonly encoding: string | undefined
}

type Weights = ReadonlyMap<string, number>

/** Browsers send few different headers, and strangers must not fill the memory with theirs. */
const parsed = new LRUCache<string, Weights>({ max: 200 })

/**
 * The form of a file that the client likes best (RFC 9110 §12.5.3), the shortest among equals. The file as it is where nothing
 * else is accepted: an answer that the client may not be able to read helps more than none.
 */
export function negotiateEncoding<Form extends Encoded>(
  header: string | null,
  offered: readonly Form[],
): Form | undefined {
  const plain = offered.at(-1)
  if (header === null || offered.length === 1) return plain
  const weights = weightsOf(header)
  let best = plain
  let bestWeight = plain ? (weights.get('identity') ?? 0) : 0
  // Left out, "identity" is acceptable and liked least.
  for (const candidate of offered) {
    const weight = weightOf(weights, candidate.encoding)
    if (candidate.encoding !== undefined && weight > 0 && isBetter(weight, bestWeight, best)) {
      best = candidate
      bestWeight = weight
    }
  }
  return best
}

const isBetter = (weight: number, bestWeight: number, best: Encoded | undefined): boolean =>
  weight > bestWeight || (weight === bestWeight && best?.encoding === undefined)

const weightOf = (weights: Weights, encoding: string | undefined): number =>
  weights.get(encoding ?? 'identity') ?? weights.get('*') ?? 0

function weightsOf(header: string): Weights {
  const known = parsed.get(header)
  if (known) return known
  const weights = parseWeights(header.slice(0, MAX_HEADER_CHARACTERS))
  if (header.length <= MAX_HEADER_CHARACTERS) parsed.set(header, weights)
  return weights
}

function parseWeights(header: string): Weights {
  const weights = new Map<string, number>()
  for (const element of header.split(',')) {
    const [name = '', ...parameters] = element.split(';').map((part) => part.trim())
    const quality = parameters.map((parameter) => WEIGHT.exec(parameter)?.[1])[0]
    const isMalformed = parameters.length > 0 && quality === undefined
    if (name !== '' && !isMalformed) weights.set(nameOf(name), Number(quality ?? 1))
  }
  return weights
}

/** `x-gzip` is gzip (RFC 9110 §8.4.1.3). */
function nameOf(name: string): string {
  const lower = name.toLowerCase()
  return lower === 'x-gzip' ? 'gzip' : lower
}
