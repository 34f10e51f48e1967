import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'

import type { Config } from './config.ts'
import type { Env } from './env-reader.ts'
import { installRoot } from './install-root.ts'
import { loadConfig } from './load.ts'

const read = (path: string): string => readFileSync(join(installRoot(), path), 'utf8')
const manifest = JSON.parse(read('package.json')) as { readonly version: string }

/** The longest that a service takes from the signal to its end. */
const LONGEST_END_SECONDS = 30
const KEY = Buffer.alloc(32, 7).toString('base64')
/** What the examples leave for the operator to make. */
const SECRETS: Env = {
  CROFT_MASTER_KEY: KEY,
  CROFT_OPERATOR_KEY: KEY,
  POSTGRES_PASSWORD: 'secret',
  S3_ACCESS_KEY_ID: 'id',
  S3_SECRET_ACCESS_KEY: 'secret',
}

/** Lines of `NAME=value`, as systemd, compose and kustomize read them; what an example leaves empty is filled in. */
const envFile = (path: string): Record<string, string> =>
  Object.fromEntries(
    read(path)
      .split('\n')
      .filter((line) => /^\w+=/.test(line))
      .map((line) => {
        const [name = '', ...value] = line.split('=')
        return [name, value.join('=') || (SECRETS[name] ?? '')]
      }),
  )

/** `ENV` of the image. */
const imageEnv = (): Record<string, string> => {
  const [, block = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(read('deploy/Dockerfile')) ?? []
  return Object.fromEntries(
    Array.from(block.matchAll(/(\w+)=(\S+)/g), ([, name, value]) => [name, value]),
  )
}

const configOf = (env: Env): Config => loadConfig(env).config

interface ComposeService {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly stop_grace_period?: string
  readonly depends_on?: Readonly<Record<string, unknown>>
}

const compose = () => {
  const options = { merge: true }
  const { services } = parse(read('deploy/compose/compose.yml'), options) as {
    readonly services: Readonly<Record<string, ComposeService>>
  }
  const settings = envFile('deploy/compose/.env.example')
  const ours = Object.entries(services)
    .filter(([, { image }]) => image.includes('croft}'))
    .map(([name, service]) => {
      const env = Object.entries(service.environment ?? {}).map(([key, value]) => [
        key,
        value.replaceAll(/\$\{(\w+)[^}]*\}/g, (_, setting: string) => settings[setting] ?? ''),
      ])
      return { name, service, env: { ...imageEnv(), ...Object.fromEntries(env) } as Env }
    })
  return { services, ours }
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

interface KubernetesObject {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Record<string, unknown> & {
    readonly selector: unknown
    readonly ports: readonly object[]
  }
}

interface Deployment {
  readonly selector: { readonly matchLabels: object }
  readonly template: {
    readonly metadata: { readonly labels: object }
    readonly spec: {
      readonly terminationGracePeriodSeconds: number
      readonly containers: readonly {
        readonly env: readonly { readonly name: string; readonly value: string }[]
        readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
        readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } }
        readonly startupProbe: Probe
        readonly readinessProbe: Probe
        readonly livenessProbe: Probe
      }[]
    }
  }
}

const kubernetes = () =>
  ['replicas.yaml', 'mail.yaml'].flatMap((file) =>
    parseAllDocuments(read(`deploy/kubernetes/${file}`)).map(
      (document) => document.toJS() as KubernetesObject,
    ),
  )

const deployments = () =>
  kubernetes()
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ metadata: { name }, spec }) => {
      const { selector, template } = spec as unknown as Deployment
      const [container] = template.spec.containers
      if (!container) throw new Error(`"${name}" has no container`)
      const env = {
        ...imageEnv(),
        ...envFile('deploy/kubernetes/croft.env'),
        ...envFile('deploy/kubernetes/secrets.env.example'),
        ...Object.fromEntries(container.env.map((entry) => [entry.name, entry.value])),
      }
      return { name, selector, template, container, config: configOf(env) }
    })

describe('the image', () => {
  test('runs as it says, on the Node that the program asks for', () => {
    const { host, port, operator, dataDir, mail } = configOf(imageEnv())
    expect({ host, operator }).toEqual({
      host: '0.0.0.0',
      operator: { host: '0.0.0.0', port: 9464 },
    })
    const dockerfile = read('deploy/Dockerfile')
    const exposed = /^EXPOSE (.*)$/m.exec(dockerfile)?.[1]?.split(' ').map(Number)
    expect(exposed).toEqual([port, mail.smtpPort, mail.submissionPort, operator?.port])
    expect(dockerfile).toContain(`VOLUME ${dataDir}\n`)
    expect(dockerfile).toContain('OPERATOR_PORT}/readyz')
    const [, major] = /^const NODE_MAJOR = (\d+)$/m.exec(read('bin/croft.js')) ?? []
    expect(dockerfile.match(/^FROM .*/gm)).toEqual([
      `FROM node:${major}-bookworm-slim AS build`,
      `FROM node:${major}-bookworm-slim`,
    ])
  })
})

describe('compose', () => {
  test('configures three replicas and a mail server of the same installation', () => {
    const { services, ours } = compose()
    const roles = ours.map(({ name, env }) => [name, configOf(env).roles.join()])
    expect(Object.fromEntries(roles)).toEqual({
      'croft-1': 'api,worker',
      'croft-2': 'api,worker',
      'croft-3': 'api,worker',
      mail: 'mail',
    })
    for (const { name, env, service } of ours) {
      const { secrets } = loadConfig(env)
      for (const url of [env['DATABASE_URL'], secrets.redisUrl, env['S3_ENDPOINT']]) {
        expect(Object.keys(services), name).toContain(new URL(url ?? '').hostname)
      }
      expect(Number.parseInt(service.stop_grace_period ?? '', 10), name).toBeGreaterThan(
        LONGEST_END_SECONDS,
      )
    }
  })

  test('leads the mail ports past the proxy, and the others through it', () => {
    const { services, ours } = compose()
    const { mail, port, operator } = configOf(ours[0]?.env ?? {})
    expect(services['mail']?.ports).toEqual([`25:${mail.smtpPort}`, `587:${mail.submissionPort}`])
    const caddyfile = read('deploy/compose/Caddyfile')
    const replicas = ours.map(({ name }) => name).filter((name) => name !== 'mail')
    const upstreams = (at: number | undefined) => replicas.map((name) => `${name}:${at}`).join(' ')
    expect(caddyfile).toContain(`reverse_proxy ${upstreams(port)} {`)
    expect(caddyfile).toContain(`reverse_proxy ${upstreams(operator?.port)} {`)
    expect(caddyfile).toContain(`health_port ${operator?.port}\n`)
    expect(replicas.filter((name) => services[name]?.ports !== undefined)).toEqual([])
  })
})

describe('Kubernetes', () => {
  test('configures replicas and mail servers', () => {
    const roles = deployments().map(({ name, config }) => [name, config.roles.join()])
    expect(roles).toEqual([
      ['croft', 'api,worker'],
      ['croft-mail', 'mail'],
    ])
    const [kustomization] = parseAllDocuments(read('deploy/kubernetes/kustomization.yaml'))
    expect(kustomization?.toJS()).toMatchObject({ images: [{ newTag: manifest.version }] })
  })

  test('asks for probes where they are, and waits until a service has ended', () => {
    for (const { name, container, template, config } of deployments()) {
      const { startupProbe, readinessProbe, livenessProbe, ports, lifecycle } = container
      const paths = [startupProbe, readinessProbe, livenessProbe].map((probe) => probe.httpGet)
      expect(paths, name).toEqual([
        { path: '/healthz', port: 'operator' },
        { path: '/readyz', port: 'operator' },
        { path: '/healthz', port: 'operator' },
      ])
      expect(ports, name).toContainEqual({
        name: 'operator',
        containerPort: config.operator?.port,
      })
      expect(template.spec.terminationGracePeriodSeconds, name).toBeGreaterThan(
        LONGEST_END_SECONDS + lifecycle.preStop.sleep.seconds,
      )
    }
  })

  test('has a service and a disruption budget for each, which mean the same pods', () => {
    const objects = kubernetes()
    for (const { name, selector, template } of deployments()) {
      const { matchLabels } = selector
      expect(template.metadata.labels, name).toEqual(matchLabels)
      const find = (kind: string) =>
        objects.find((one) => one.kind === kind && one.metadata.name === name)?.spec
      expect(find('Service')?.selector, name).toEqual(matchLabels)
      expect(find('PodDisruptionBudget')?.selector, name).toEqual({ matchLabels })
    }
  })

  test('leads its services to ports that pods have', () => {
    const named = deployments().flatMap(({ container, config }) =>
      container.ports.map((port) => ({ ...port, config })),
    )
    for (const { name, containerPort, config } of named) {
      const { port, operator, mail } = config
      const configured = {
        http: port,
        operator: operator?.port,
        smtp: mail.smtpPort,
        submission: mail.submissionPort,
      }
      expect({ [name]: containerPort }).toEqual({ [name]: configured[name as 'http'] })
    }
    const targets = kubernetes()
      .filter(({ kind }) => kind === 'Service')
      .flatMap(({ spec }) => spec.ports.map((port) => (port as { targetPort: string }).targetPort))
    expect(targets.toSorted()).toEqual(['http', 'operator', 'smtp', 'submission'])
  })
})

describe('the systemd unit', () => {
  const unit = read('deploy/systemd/croft.service')
  const all = (name: string) =>
    Array.from(unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm')), ([, value]) => value ?? '')

  test('configures a service, with the example of its file', () => {
    const own = Object.fromEntries(all('Environment').map((entry) => entry.split('=')))
    const { dataDir, operator, mail, sandbox } = configOf({
      ...own,
      ...envFile('deploy/systemd/croft.env.example'),
    })
    expect(all('WorkingDirectory')).toEqual([dataDir])
    expect(all('StateDirectory').map((name) => `/var/lib/${name}`)).toEqual([dataDir])
    expect({ port: operator?.port, smtpPort: mail.smtpPort }).toEqual({ port: 9464, smtpPort: 25 })
    expect(sandbox.require).toBe('jail')
  })

  test('waits until a service has ended, and takes none of its walls down', () => {
    expect(Number(all('TimeoutStopSec')[0])).toBeGreaterThan(LONGEST_END_SECONDS)
    expect(all('KillMode')).toEqual(['mixed'])
    const breaking = [
      'RestrictNamespaces',
      'ProtectProc',
      'ProtectKernelTunables',
      'ProtectKernelLogs',
    ]
    expect(breaking.flatMap(all)).toEqual([])
  })
})
