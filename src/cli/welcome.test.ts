import { describe, expect, test } from 'vitest'

import { welcome } from './welcome.ts'

const RESULT = {
  siteId: 'site_aaaaaaaaaaaa',
  domain: 'localhost',
  baseUrl: 'http://localhost:8080',
  mailbox: 'hello@localhost',
  onboarding: [{ email: 'admin@localhost', url: 'http://localhost:8080/onboarding?token=abc' }],
  fault: undefined,
}

const LOCALHOST = {
  baseUrl: 'http://localhost:8080',
  smtpPort: 2525,
  command: 'npx croft',
} as const

describe('the welcome', () => {
  test('shows where to look, what to type and the link', () => {
    const text = welcome(RESULT, LOCALHOST)
    expect(text).toContain('Croft is running at http://localhost:8080\n')
    expect(text).toContain(
      `curl -X POST http://localhost:8080/data/public/hello -H 'content-type: application/json' -d '{"payload":{"name":"Ada"}}'`,
    )
    expect(text).toContain(
      '  curl http://localhost:8080/   # its page; http://localhost:8080/ in a browser\n',
    )
    expect(text).toContain('  http://localhost:8080/onboarding?token=abc\n')
    expect(text).toContain('npx croft token localhost --user admin@localhost')
    expect(text).toContain('  npx croft mailbox show hello@localhost\n')
  })

  test('names the installed command where there is one', () => {
    const text = welcome(RESULT, { ...LOCALHOST, command: 'croft' })
    expect(text).toContain('  croft mailbox show hello@localhost\n')
    expect(text).toContain('TOKEN=$(croft token localhost')
    expect(text).not.toMatch(/npx|this folder/)
  })

  test('names the site where the address alone does not', () => {
    const text = welcome(RESULT, { ...LOCALHOST, baseUrl: 'http://127.0.0.1:8080' })
    expect(text).toContain(
      "curl -X POST http://127.0.0.1:8080/data/public/hello -H 'host: localhost:8080' ",
    )
  })

  test('shows how to send mail, and to read it, where this process takes it', () => {
    const text = welcome(RESULT, LOCALHOST)
    expect(text).toContain(
      '  swaks --server 127.0.0.1:2525 --from ann@localhost --to hello@localhost ',
    )
    expect(text).toContain('  npx croft mail show hello@localhost\n')
    expect(text).toContain(
      `  curl 'http://localhost:8080/admin/api/messages?mailbox=hello@localhost' -H "authorization: Bearer $TOKEN"\n`,
    )
    const nobody = welcome({ ...RESULT, onboarding: [] }, LOCALHOST)
    expect(nobody).toContain('swaks')
    expect(nobody).not.toContain('TOKEN')
    expect(welcome(RESULT, { ...LOCALHOST, smtpPort: undefined })).not.toContain('swaks')
  })

  test('says why there is nothing to try', () => {
    const text = welcome({ ...RESULT, fault: 'no room' }, LOCALHOST)
    expect(text).toContain('The example could not be deployed: no room')
    expect(text).not.toContain('/data/public/hello')
  })
})
