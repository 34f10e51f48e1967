import { parseArgs } from 'node:util'

import { InvalidLoadPlan, type LoadPlan, checkLoadPlan } from './load-plan.ts'

export const USAGE = `usage: npm run load -- [options]
  --url URL            service on this machine          http://127.0.0.1:8080
  --host A[,B…]        sites, called in turn            localhost
  --path PATH          what is called by POST           /data/public/hello
  --body JSON          may be repeated: used in turn    {"payload":{"name":"Ada"}}
  --token T            one for all hosts, or repeated: one for each
  --connections N      1 to 4096                        32
  --rate N             requests a second (open loop, to the millisecond); left out: closed loop
  --seconds N          measured time, at most 600       5
  --warmup N           seconds before that              1
  --timeout N          seconds until a request failed   10
  --status N           the status that is expected      200
  --includes TEXT      a text that is expected in a sample of the answers
  --json               the report as JSON`

export interface LoadOptions {
  readonly plan: LoadPlan
  readonly json: boolean
}

/** Throws `InvalidLoadPlan`, or a TypeError of `parseArgs` for an unknown option; both say what to do. */
export function parseLoadOptions(args: readonly string[]): LoadOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: { type: 'string', default: 'http://127.0.0.1:8080' },
      host: { type: 'string', default: 'localhost' },
      path: { type: 'string', default: '/data/public/hello' },
      body: { type: 'string', multiple: true, default: ['{"payload":{"name":"Ada"}}'] },
      token: { type: 'string', multiple: true, default: [] },
      connections: { type: 'string', default: '32' },
      rate: { type: 'string' },
      seconds: { type: 'string', default: '5' },
      warmup: { type: 'string', default: '1' },
      timeout: { type: 'string', default: '10' },
      status: { type: 'string', default: '200' },
      includes: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const hosts = values.host.split(',').map((host) => host.trim())
  const expect = {
    status: numberOf('--status', values.status),
    ...(values.includes === undefined ? {} : { includes: values.includes }),
  }
  const plan: LoadPlan = {
    origin: values.url,
    tenants: hosts.map((host, index) => ({
      host,
      path: values.path,
      bodies: values.body,
      expect,
      ...tokenOf(values.token, hosts.length, index),
    })),
    connections: numberOf('--connections', values.connections),
    ...(values.rate === undefined ? {} : { ratePerSecond: numberOf('--rate', values.rate) }),
    warmupMs: numberOf('--warmup', values.warmup) * 1000,
    durationMs: numberOf('--seconds', values.seconds) * 1000,
    timeoutMs: numberOf('--timeout', values.timeout) * 1000,
  }
  checkLoadPlan(plan)
  return { plan, json: values.json }
}

function tokenOf(tokens: readonly string[], hosts: number, index: number): { token?: string } {
  if (tokens.length > 1 && tokens.length !== hosts) {
    throw new InvalidLoadPlan(`give one --token for all hosts, or ${hosts}: one for each --host`)
  }
  const token = tokens[tokens.length === 1 ? 0 : index]
  return token === undefined ? {} : { token }
}

function numberOf(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) {
    throw new InvalidLoadPlan(`${name} must be a number, not "${text}"`)
  }
  return value
}
