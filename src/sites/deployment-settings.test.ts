import { describe, expect, test } from 'vitest'

import { parseSettings, readDeploymentSettings } from './deployment-settings.ts'

describe('deployment settings', () => {
  test('let site code reach every public host, and no other origin in, by default', () => {
    expect(parseSettings({})).toEqual({
      egress: { allow: ['*'] },
      cors: { origins: [] },
      limits: {},
      autoRollback: { enabled: false, failurePercent: 50, minCalls: 20 },
    })
  })

  test('replace a list, merge limits, and reset a limit with null', () => {
    const first = parseSettings({
      egress: { allow: ['api.example', '*.cdn.example', 'api.example:8443', 'api.example'] },
      limits: { concurrency: 4, cpuMs: 100 },
    })
    expect(first.egress.allow).toEqual(['api.example', '*.cdn.example', 'api.example:8443'])
    const second = parseSettings(
      { cors: { origins: ['https://app.example'] }, limits: { cpuMs: null, logLines: 5 } },
      first,
    )
    expect(second).toEqual({
      egress: first.egress,
      cors: { origins: ['https://app.example'] },
      limits: { concurrency: 4, logLines: 5 },
      autoRollback: first.autoRollback,
    })
  })

  test('merge when a deployment is rolled back', () => {
    const on = parseSettings({ autoRollback: { enabled: true, minCalls: 5 } })
    expect(on.autoRollback).toEqual({ enabled: true, failurePercent: 50, minCalls: 5 })
    const off = parseSettings({ autoRollback: { enabled: false } }, on)
    expect(off.autoRollback).toEqual({ enabled: false, failurePercent: 50, minCalls: 5 })
  })

  test.each([
    ['https://api.example', 'egress'],
    ['*.example:80', 'egress'],
    ['api.example:0', 'egress'],
    ['api.example:99999', 'egress'],
    ['a b', 'egress'],
    ['https://app.example/', 'cors'],
    ['app.example', 'cors'],
    ['ftp://app.example', 'cors'],
    ['*', 'cors'],
  ])('refuse %s under %s', (entry, section) => {
    const input =
      section === 'egress' ? { egress: { allow: [entry] } } : { cors: { origins: [entry] } }
    expect(() => parseSettings(input)).toThrow(`"${entry}"`)
  })

  test('read what an older version stored', () => {
    expect(readDeploymentSettings({ egress: { allow: [] } })).toEqual({
      egress: { allow: [] },
      cors: { origins: [] },
      limits: {},
      autoRollback: { enabled: false, failurePercent: 50, minCalls: 20 },
    })
    expect(() => readDeploymentSettings({ egress: 1 })).toThrow('cannot be read')
  })
})
