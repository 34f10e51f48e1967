import { PageBrandingView } from '#http/page-branding-view.ts'

import { columns } from './columns.ts'
import { type CliCommand, textOption } from './command.ts'
import { pictureOption } from './picture-option.ts'
import { sitePath } from './service-client.ts'
import { defined, orNone } from './site-options.ts'

export const siteBranding: CliCommand = {
  name: 'site branding',
  summary: 'Show or change the color and the logo of the hosted pages',
  words: ['DOMAIN'],
  options: [
    textOption('--color <color>', 'of buttons and links, like "#0a7d55", or none'),
    textOption('--logo <file>', 'a PNG, JPEG or WebP picture of 32 KiB at most, or none'),
  ],
  async run({ args, service }) {
    const path = sitePath(args.word, '/page-branding')
    const body = defined({
      color: orNone(args.text('color')),
      logo: await pictureOption(args.text('logo')),
    })
    const view =
      Object.keys(body).length === 0
        ? await service.portalAs(PageBrandingView, 'GET', path)
        : await service.portalAs(PageBrandingView, 'PUT', path, { body })
    return { json: view, text: brandingText(view) }
  },
}

const brandingText = ({ color, logo, shades }: PageBrandingView): string =>
  columns([
    ['color', color ?? 'none'],
    ...Object.entries(shades ?? {}).map(([scheme, { button, buttonText, link }]) => [
      `  in ${scheme}`,
      `buttons ${button} with ${buttonText} on them, links ${link}`,
    ]),
    ['logo', logo ?? 'none'],
  ])
