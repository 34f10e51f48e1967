import { type CliCommand, textOption } from './command.ts'
import { runChecks } from './launch-checks.ts'
import { readSite } from './site-show.ts'

export const siteVerify: CliCommand = {
  name: 'site verify',
  summary: 'The launch validation: does the site answer as it should?',
  argument: 'DOMAIN',
  options: [
    textOption('--user <email>', 'as this admin; else as the first super-admin'),
    textOption('--operation <name>', 'call this one; else any that the site has'),
    textOption('--payload <json>', 'what the operation is called with; {} unless told otherwise'),
  ],
  async run({ args, service }) {
    const site = await readSite(service, args.word)
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
