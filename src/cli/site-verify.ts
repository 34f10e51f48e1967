import type { Command } from './command.ts'
import { runChecks } from './launch-checks.ts'
import { readSite } from './site-show.ts'

export const siteVerify: Command = {
  name: 'site verify',
  summary: 'The launch validation: does the site answer as it should?',
  usage: 'DOMAIN [--user EMAIL] [--operation NAME] [--payload JSON]',
  options: {
    user: { type: 'string' },
    operation: { type: 'string' },
    payload: { type: 'string' },
  },
  maxPositionals: 1,
  async run({ args, service }) {
    const site = await readSite(service, args.word(0, 'DOMAIN'))
    const checks = await runChecks({
      service,
      site,
      admin: args.text('user') ?? site.superAdmins[0],
      operation: args.text('operation'),
      payload: args.text('payload') ?? '{}',
    })
    const failed = checks.some(({ ok }) => !ok)
    const lines = checks.map(({ name, ok, detail }) => `${ok ? '✓' : '✗'} ${name}: ${detail}`)
    const last = failed ? `${site.domain} is not ready to launch.` : `${site.domain} is ready.`
    return {
      json: { siteId: site.siteId, siteDomain: site.domain, ok: !failed, checks },
      text: [...lines, last].join('\n'),
      failed,
    }
  },
}
