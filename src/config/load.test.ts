import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { installRoot } from './install-root.ts'
import { loadConfig, sandboxBudget } from './load.ts'

const KEY = 'k'.repeat(43)

function faultsOf(env: Record<string, string>): string {
  try {
    loadConfig(env)
  } catch (error) {
    return String(error)
  }
  return ''
}

describe('an empty environment', () => {
  test('is a whole configuration', () => {
    const { config, secrets } = loadConfig({})
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      dataDir: join(installRoot(), '.croft'),
      baseUrl: 'http://localhost:8080',
      roles: ['api', 'mail', 'worker'],
      trustedProxies: [],
      logLevel: 'info',
      logFormat: 'auto',
      logColors: true,
      s3: undefined,
      mail: {
        smtpHost: '127.0.0.1',
        smtpPort: 2525,
        smtpHostname: 'localhost',
        smtpTls: undefined,
        smtpLimits: { messageBytes: 35 * 1024 * 1024, connections: 1000 },
        submissionPort: 2587,
      },
    })
    expect(Object.values(secrets).every((value) => value === undefined)).toBe(true)
  })

  test('may also be a list of empty variables', () => {
    expect(loadConfig({ PORT: '', DATABASE_URL: ' ', CROFT_ROLES: '' })).toEqual(loadConfig({}))
  })
})

describe('a configuration', () => {
  test('cannot be changed', () => {
    const { config } = loadConfig({ S3_BUCKET: 'b' })
    for (const part of [config, config.roles, config.sandbox, config.mail, config.s3]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })

  test('puts the port into the base URL', () => {
    expect(loadConfig({ PORT: '9000' }).config.baseUrl).toBe('http://localhost:9000')
  })

  test('has a listener for the operator when it is given a port, on this machine unless said otherwise', () => {
    expect(loadConfig({ HOST: '0.0.0.0' }).config.operator).toBeUndefined()
    const own = { HOST: '0.0.0.0', OPERATOR_PORT: '9464' }
    expect(loadConfig(own).config.operator).toEqual({ host: '127.0.0.1', port: 9464 })
    const inside = loadConfig({ ...own, OPERATOR_HOST: '10.0.0.5' }).config.operator
    expect(inside).toEqual({ host: '10.0.0.5', port: 9464 })
    expect(Object.isFrozen(inside)).toBe(true)
    expect(faultsOf({ PORT: '9464', OPERATOR_PORT: '9464' })).toContain(
      'OPERATOR_PORT: 9464 is that of PORT',
    )
    expect(faultsOf({ OPERATOR_HOST: '0.0.0.0' })).toContain('OPERATOR_HOST: says nothing without')
  })

  test('has mail arrive where the service listens, under the name of its base URL', () => {
    const { mail } = loadConfig({ HOST: '0.0.0.0', CROFT_BASE_URL: 'https://croft.test' }).config
    expect(mail).toMatchObject({ smtpHost: '0.0.0.0', smtpHostname: 'croft.test' })
    const own = { SMTP_HOST: '10.0.0.1', SMTP_HOSTNAME: 'mx.croft.test' }
    const set = loadConfig({ HOST: '0.0.0.0', ...own }).config.mail
    expect(set).toMatchObject({ smtpHost: '10.0.0.1', smtpHostname: 'mx.croft.test' })
  })

  test('takes whose name forwarded mail is in', () => {
    expect(loadConfig({}).config.mail.forwardFrom).toBe('original')
    expect(loadConfig({ FORWARD_FROM: 'mailbox' }).config.mail.forwardFrom).toBe('mailbox')
    expect(() => loadConfig({ FORWARD_FROM: 'nobody' })).toThrow('FORWARD_FROM')
  })

  test('takes what SPF must allow, and nothing else', () => {
    expect(loadConfig({}).config.mail.spfMechanisms).toEqual([])
    const text = 'include:_spf.example.com ip4:192.0.2.0/24  ip6:2001:db8::1 a:mx.example.com'
    expect(loadConfig({ SMTP_SPF: text }).config.mail.spfMechanisms).toEqual(text.split(/ +/))
    for (const wrong of ['spf.example.com', 'all', '-all', 'include:a b', 'ip4:::1', 'a;"']) {
      expect(() => loadConfig({ SMTP_SPF: wrong })).toThrow('SMTP_SPF')
    }
  })

  test('drops the slash after the base URL', () => {
    const { config } = loadConfig({ CROFT_BASE_URL: 'https://Croft.test:8443/' })
    expect(config.baseUrl).toBe('https://croft.test:8443')
  })

  test.each<[Record<string, string>, string | undefined]>([
    [{}, undefined],
    [{ CROFT_HSTS: 'off' }, undefined],
    [{ CROFT_BASE_URL: 'https://croft.test' }, 'max-age=31536000'],
    [{ CROFT_BASE_URL: 'https://croft.test', CROFT_HSTS: 'off' }, undefined],
    [{ CROFT_BASE_URL: 'https://croft.test', CROFT_HSTS: 'max-age=0' }, 'max-age=0'],
    [
      { CROFT_BASE_URL: 'https://croft.test', CROFT_HSTS: 'max-age=9; includeSubDomains; preload' },
      'max-age=9; includeSubDomains; preload',
    ],
  ])('of %j keeps browsers to TLS by %j', (env, hsts) => {
    expect(loadConfig(env).config.hsts).toBe(hsts)
  })

  test.each(['on', '31536000', 'max-age=1, preload', 'max-age=1\r\nx: y', 'preload'])(
    'refuses %j for Strict-Transport-Security',
    (value) => {
      const env = { CROFT_BASE_URL: 'https://croft.test', CROFT_HSTS: value }
      expect(faultsOf(env)).toContain('CROFT_HSTS')
    },
  )

  test('has no Strict-Transport-Security without TLS', () => {
    expect(faultsOf({ CROFT_HSTS: 'max-age=60' })).toContain('CROFT_BASE_URL=https://')
  })

  test('takes lists with spaces and repetitions', () => {
    const { config } = loadConfig({
      CROFT_ROLES: 'api, worker,api',
      CROFT_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, fd00::/8',
    })
    expect(config.roles).toEqual(['api', 'worker'])
    expect(config.trustedProxies).toEqual(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
  })

  test('addresses buckets by path at an endpoint of its own', () => {
    const s3 = { S3_BUCKET: 'croft', S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'key' }
    expect(loadConfig({ ...s3, S3_ENDPOINT: 'http://127.0.0.1:9000' }).config.s3).toEqual({
      endpoint: 'http://127.0.0.1:9000',
      region: 'us-east-1',
      bucket: 'croft',
      forcePathStyle: true,
    })
    expect(loadConfig(s3).config.s3?.forcePathStyle).toBe(false)
  })

  test('keeps secrets out of the object that a logger may meet', () => {
    const { config, secrets } = loadConfig({ CROFT_OPERATOR_KEY: KEY, CROFT_MASTER_KEY: KEY })
    expect(secrets).toMatchObject({ operatorKey: KEY, masterKey: KEY })
    expect(JSON.stringify(config)).not.toContain(KEY)
  })
})

const NOTHING_GIVEN = {
  hosts: undefined,
  hostMemoryMb: undefined,
  memoryMb: undefined,
  warmIsolates: undefined,
}

describe('the memory of the machine decides', () => {
  test.each([
    [0.25, 2, { memoryMb: 256, hosts: 2, hostMemoryMb: 256, warmIsolates: 25 }],
    [1, 2, { memoryMb: 512, hosts: 2, hostMemoryMb: 512, warmIsolates: 51 }],
    [1, 16, { memoryMb: 512, hosts: 2, hostMemoryMb: 512, warmIsolates: 51 }],
    [4, 16, { memoryMb: 2048, hosts: 8, hostMemoryMb: 1024, warmIsolates: 51 }],
    [24, 2, { memoryMb: 12_288, hosts: 2, hostMemoryMb: 3072, warmIsolates: 614 }],
    [256, 16, { memoryMb: 131_072, hosts: 15, hostMemoryMb: 4096, warmIsolates: 819 }],
  ])('with %d GiB and %i cores, where nothing else does', (gib, cores, budget) => {
    const machine = { memoryBytes: gib * 2 ** 30, cores }
    expect(sandboxBudget(NOTHING_GIVEN, machine)).toEqual(budget)
  })

  test('what is not given by what is', () => {
    const machine = { memoryBytes: 8 * 2 ** 30, cores: 4 }
    const { memoryMb } = { memoryMb: 1200 }
    expect(sandboxBudget({ ...NOTHING_GIVEN, memoryMb }, machine)).toEqual({
      memoryMb,
      hosts: 3,
      hostMemoryMb: 1024,
      warmIsolates: 80,
    })
    const given = { hosts: 5, hostMemoryMb: 700, memoryMb, warmIsolates: 9 }
    expect(sandboxBudget(given, machine)).toEqual(given)
  })
})

test('the memory of all hosts together may be named', () => {
  const { sandbox } = loadConfig({ CROFT_SANDBOX_MEMORY_MB: '1500' }).config
  expect(sandbox.memoryMb).toBe(1500)
})

test('the walls around the sandbox may be required, and its user named', () => {
  expect(loadConfig({}).config.sandbox).toMatchObject({ require: undefined, uid: undefined })
  const given = { CROFT_SANDBOX_REQUIRE: 'jail', CROFT_SANDBOX_UID: '4711' }
  expect(loadConfig(given).config.sandbox).toMatchObject({ require: 'jail', uid: 4711 })
})

describe('the domain of consoles', () => {
  test.each([
    [{}, 'console.localhost'],
    [{ CROFT_BASE_URL: 'http://shop.localhost:8080' }, 'console.localhost'],
    [{ CROFT_BASE_URL: 'http://127.0.0.1:8080' }, 'console.localhost'],
    [{ CROFT_BASE_URL: 'https://croft.test' }, undefined],
    [{ CROFT_BASE_URL: 'https://localhost.test' }, undefined],
    [{ CROFT_CONSOLE_DOMAIN: 'admin.localhost' }, 'admin.localhost'],
    [
      { CROFT_BASE_URL: 'https://croft.test', CROFT_CONSOLE_DOMAIN: 'console.croft.test' },
      'console.croft.test',
    ],
  ])('of %j is %s', (env, domain) => {
    expect(loadConfig(env).config.consoleDomain).toBe(domain)
  })

  test.each(['https://console.test', 'https://croft.console.test'])(
    'cannot have the installation at %s below it',
    (baseUrl) => {
      const env = { CROFT_BASE_URL: baseUrl, CROFT_CONSOLE_DOMAIN: 'console.test' }
      expect(faultsOf(env)).toContain('CROFT_CONSOLE_DOMAIN: ')
      const beside = { ...env, CROFT_BASE_URL: 'https://croftconsole.test' }
      expect(loadConfig(beside).config.consoleDomain).toBe('console.test')
    },
  )
})

describe('a faulty environment', () => {
  test.each([
    ['CROFT_CONSOLE_DOMAIN', 'console', 'a DNS name in lower case'],
    ['CROFT_CONSOLE_DOMAIN', 'Console.test', 'a DNS name in lower case'],
    ['CROFT_CONSOLE_DOMAIN', '127.0.0.1', 'a DNS name in lower case'],
    ['CROFT_CONSOLE_DOMAIN', '*.console.test', 'a DNS name in lower case'],
    ['CROFT_CONSOLE_DOMAIN', `${'a.'.repeat(94)}te`, 'a DNS name in lower case'],
    ['CROFT_SANDBOX_REQUIRE', 'walls', 'one of jail'],
    ['CROFT_SANDBOX_UID', '0', 'a whole number from 1 to 4294967293'],
    ['PORT', 'http', 'a whole number from 1 to 65535'],
    ['PORT', '0', 'a whole number from 1 to 65535'],
    ['PORT', '80.5', 'a whole number from 1 to 65535'],
    ['SMTP_PORT', '70000', 'a whole number from 0 to 65535'],
    ['SMTP_HOST', 'a b', 'a host name or an IP address'],
    ['SMTP_MAX_MESSAGE_BYTES', '0', 'a whole number from 1'],
    ['HOST', 'a b', 'a host name or an IP address'],
    ['CROFT_BASE_URL', 'croft.test', 'an http or https URL without a path'],
    ['CROFT_BASE_URL', 'https://croft.test/app', 'an http or https URL without a path'],
    ['CROFT_BASE_URL', 'https://u:p@croft.test', 'an http or https URL without a path'],
    ['CROFT_ROLES', 'api,web', 'a list, separated by commas, of one of api, mail, worker'],
    ['CROFT_TRUSTED_PROXIES', '10.0.0.0/33', 'of IP addresses or CIDR blocks'],
    ['CROFT_TRUSTED_PROXIES', '10.0.0.0/8/8', 'of IP addresses or CIDR blocks'],
    ['CROFT_LOG_LEVEL', 'loud', 'one of trace, debug, info, warn, error, silent'],
    ['CROFT_LOG_FORMAT', 'pretty', 'one of auto, json, text'],
    ['CROFT_SANDBOX_HOSTS', '0', 'a whole number from 1 to 256'],
    ['CROFT_SANDBOX_HOST_MEMORY_MB', '64', 'a whole number from 256'],
    ['CROFT_SANDBOX_MEMORY_MB', 'half', 'a whole number from 256'],
    ['S3_ENDPOINT', 's3.test', 'a URL that starts with http:// or https://'],
    ['S3_FORCE_PATH_STYLE', 'yes', 'true or false'],
    ['DATABASE_URL', 'mysql://h/d', 'a URL that starts with postgres:// or postgresql://'],
    ['REDIS_URL', '127.0.0.1:6379', 'a URL that starts with redis:// or rediss://'],
    ['SMTP_URL', 'mail.test', 'a URL that starts with smtp:// or smtps://'],
    ['SMTP_URL', 'http://mail.test', 'a URL that starts with smtp:// or smtps://'],
    ['SMTP_URL', 'smtp://mail.test/inbox', 'nothing after the host'],
    ['SMTP_URL', 'smtp://mail.test?pool=true', 'nothing after the host'],
    ['SMTP_URL', 'smtp://user@mail.test', 'with a password for its user'],
    ['SMTP_URL', 'smtp://user:%zz@mail.test', 'with a password for its user'],
    ['CROFT_OPERATOR_KEY', 'short', '24 to 512 visible ASCII characters'],
    ['CROFT_MASTER_KEY', 'short', '32 random bytes in base64'],
  ])('reports that %s cannot be "%s"', (name, value, expected) => {
    const faults = faultsOf({ [name]: value, S3_BUCKET: 'b' })
    expect(faults).toContain(`${name}: `)
    expect(faults).toContain(expected)
    expect(faults).toContain(`as in ${name}=`)
  })

  test('reports that a certificate needs its key', () => {
    const words = 'SMTP_TLS_CERT and SMTP_TLS_KEY: set both, or neither'
    expect(faultsOf({ SMTP_TLS_CERT: 'cert.pem' })).toContain(words)
    expect(faultsOf({ SMTP_TLS_KEY: 'key.pem' })).toContain(words)
  })

  test('reports all errors at once', () => {
    const faults = faultsOf({ PORT: 'x', REDIS_URL: 'x', CROFT_ROLES: 'x' })
    expect(faults).toContain('The environment has 3 faults')
    for (const name of ['PORT', 'REDIS_URL', 'CROFT_ROLES']) expect(faults).toContain(`- ${name}: `)
  })

  test('never shows a secret', () => {
    const secret = 'hunter2 hunter2'
    const faults = faultsOf({
      DATABASE_URL: secret,
      REDIS_URL: secret,
      SMTP_URL: secret,
      CROFT_OPERATOR_KEY: secret,
      CROFT_MASTER_KEY: secret,
    })
    expect(faults).toContain('5 faults')
    expect(faults).not.toContain('hunter2')
  })

  test.each([
    ['CROFT_BASEURL', 'did you mean CROFT_BASE_URL?'],
    ['CROFT_ROLE', 'did you mean CROFT_ROLES?'],
    ['CROFT_SANDBOX_HOST', 'did you mean CROFT_SANDBOX_HOSTS?'],
    ['CROFT_XYZZY', 'CROFT_XYZZY: no such variable'],
  ])('reports that %s is not a variable', (name, words) => {
    expect(faultsOf({ [name]: '1' })).toContain(words)
  })

  test('may not name an object store without a bucket, nor half of its keys', () => {
    const faults = faultsOf({ S3_ENDPOINT: 'http://s3.test', S3_ACCESS_KEY_ID: 'id' })
    expect(faults).toContain('S3_BUCKET: missing')
    expect(faults).toContain('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY: set both, or neither')
  })
})

describe('spans', () => {
  const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' }
  const endpoint = 'http://127.0.0.1:4318'

  test.each([
    ['none without a collector', { OTEL_SERVICE_NAME: 'shop' }, undefined],
    ['none where they are switched off', { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }, undefined],
    ['all of them by default', ENDPOINT, { endpoint, serviceName: 'croft', sampleRatio: 1 }],
    [
      'a part of them under another name',
      {
        ...ENDPOINT,
        OTEL_SERVICE_NAME: 'shop',
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.01',
      },
      { endpoint, serviceName: 'shop', sampleRatio: 0.01 },
    ],
  ])('%s', (_what, env, expected) => {
    expect(loadConfig(env).config.tracing).toEqual(expected)
  })

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_SAMPLER', 'always_off'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_SDK_DISABLED', 'yes'],
  ])('are refused with %s=%s', (name, value) => {
    expect(faultsOf({ [name]: value })).toContain(name)
  })
})
