import { describe, expect, test, vi } from 'vitest'

import { AppError } from '#base/app-error.ts'

import { createLogger } from './create-logger.ts'

const lines: string[] = []
const log = createLogger({ logLevel: 'info' }, { write: (line) => lines.push(line) })
const written = (write: () => void): Record<string, unknown> => {
  write()
  return JSON.parse(lines.pop() ?? 'null')
}

describe('a log line', () => {
  test('is JSON with its level by name and its time in ISO form', () => {
    const line = written(() => log.info({ siteId: 's1' }, 'site created'))
    expect(line).toMatchObject({ level: 'info', siteId: 's1', msg: 'site created' })
    expect(line['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('is left out below the level', () => {
    log.debug({ siteId: 's1' })
    expect(lines).toEqual([])
  })

  test.each([
    ['at the top', { password: 'hunter2' }],
    ['in headers', { headers: { authorization: 'Bearer hunter2', cookie: 'a=hunter2' } }],
    ['in a request', { request: { headers: { 'set-cookie': 'hunter2' } } }],
    ['in settings', { config: { masterKey: 'hunter2', redisUrl: 'redis://:hunter2@h' } }],
  ])('never shows a secret %s', (_where, fields) => {
    const line = written(() => log.info(fields))
    expect(JSON.stringify(line)).not.toContain('hunter2')
    expect(JSON.stringify(line)).toContain('[secret]')
  })

  test('of a child keeps the wall', () => {
    const line = written(() => log.child({ requestId: 'r1' }).warn({ token: 'hunter2' }))
    expect(line).toMatchObject({ requestId: 'r1', token: '[secret]' })
  })

  test('carries an error with its stack and its cause', () => {
    const err = new Error('outer', { cause: new Error('inner') })
    expect(JSON.stringify(written(() => log.error({ err })))).toMatch(/outer.*inner/)
  })

  test('is left out where the error was logged when it was found, or is caused by such a one', () => {
    const away = new AppError('ServiceUnavailable', 'The database does not answer', {
      isLogged: true,
    })
    log.error({ err: away }, 'queue')
    log.warn({ err: Object.assign(new Error('a copy'), { isLogged: true }) })
    log.warn({ err: new Error('outer', { cause: away }) })
    log.error(away)
    expect(lines).toEqual([])
    expect(written(() => log.error({ err: new AppError('SiteNotFound', 'no') }))).toMatchObject({
      err: { code: 'SiteNotFound' },
    })
  })

  test('of a full disk is said once a minute, with how often it was left out', () => {
    const full = () => ({
      err: new Error('no', { cause: Object.assign(new Error(), { code: '53100' }) }),
    })
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      for (let time = 0; time < 5; time += 1) log.error(full(), 'request failed')
      log.error({ err: new Error('something else') })
      expect(lines).toHaveLength(2)
      vi.advanceTimersByTime(61_000)
      lines.length = 0
      expect(written(() => log.error(full(), 'request failed'))).toMatchObject({ repeats: 4 })
    } finally {
      vi.useRealTimers()
    }
  })

  test('does not repeat the rows that a database complains of', () => {
    const err = Object.assign(new Error('new row violates a check'), {
      code: '23514',
      constraint_name: 'short',
      detail: 'Failing row contains (hunter2).',
      where: 'unnamed portal parameter $1 = hunter2',
      parameters: ['hunter2'],
    })
    const line = written(() => log.error({ err }))
    expect(JSON.stringify(line)).not.toContain('hunter2')
    expect(line).toMatchObject({ err: { code: '23514', constraint_name: 'short' } })
  })
})
