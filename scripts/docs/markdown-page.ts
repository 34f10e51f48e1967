import { Marked, type Tokens } from 'marked'

import { HeadingIds } from './heading-ids.ts'
import { escapeHtml } from './html.ts'

interface Heading {
  readonly depth: number
  readonly id: string
  /** Without markup. */
  readonly text: string
}

/** What a search looks through: the text from one heading to the next. */
interface Section {
  /** Empty for the text between the title and the next heading. */
  readonly id: string
  readonly heading: string
  readonly text: string
}

export interface MarkdownPage {
  readonly title: string
  readonly html: string
  readonly headings: readonly Heading[]
  readonly sections: readonly Section[]
}

/** Gives the address that a link of the page leads to, or undefined where its target is not part of the site. */
export type LinkResolver = (href: string) => string | undefined

/** Renders a page of GitHub Flavored Markdown. HTML in it is shown as text; comments are left out. */
export function markdownPage(source: string, resolveLink: LinkResolver): MarkdownPage {
  const ids = new HeadingIds()
  const headings: Heading[] = []
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ depth, raw, tokens }: Tokens.Heading) {
        const id = ids.idOf(raw.replace(/^#+\s+/, '').trim())
        headings.push({ depth, id, text: plainText(tokens) })
        const anchor =
          depth === 1
            ? ''
            : `<a class="anchor" href="#${id}" aria-label="Link to this heading">#</a>`
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${anchor}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        const words = this.parser.parseInline(tokens)
        const target = resolveLink(href)
        return target === undefined ? words : `<a href="${escapeHtml(target)}">${words}</a>`
      },
      image: ({ text }: Tokens.Image) => escapeHtml(text),
      html: ({ text }: Tokens.HTML | Tokens.Tag) => (/^\s*<!--/.test(text) ? '' : escapeHtml(text)),
      code: ({ text, lang }: Tokens.Code) =>
        `<div class="code"><pre tabindex="0"><code${lang ? ` data-language="${escapeHtml(lang)}"` : ''}>${escapeHtml(text)}</code></pre></div>\n`,
      table(token: Tokens.Table) {
        const row = (cells: readonly Tokens.TableCell[], tag: string): string =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n')
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`
      },
    },
  })
  const html = marked.parse(source, { async: false })
  return {
    title: headings.find(({ depth }) => depth === 1)?.text ?? '',
    html,
    headings,
    sections: sectionsOf(marked.lexer(source)),
  }
}

function sectionsOf(tokens: readonly Tokens.Generic[]): Section[] {
  const ids = new HeadingIds()
  const sections: { id: string; heading: string; words: string[] }[] = []
  for (const token of tokens) {
    if (token.type === 'heading') {
      const id = ids.idOf(token.raw.replace(/^#+\s+/, '').trim())
      const isTitle = token['depth'] === 1
      sections.push({ id: isTitle ? '' : id, heading: plainText(token.tokens), words: [] })
    } else {
      sections.at(-1)?.words.push(plainText([token]))
    }
  }
  return sections.map(({ words, ...section }) => ({
    ...section,
    text: words.join(' ').replaceAll(/\s+/g, ' ').trim(),
  }))
}

/** The words of tokens without their markup. */
function plainText(tokens: readonly Tokens.Generic[] = []): string {
  return tokens
    .map((token) => {
      if (token.type === 'html') return ''
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table
        return [header, ...rows]
          .flat()
          .map((cell) => plainText(cell.tokens))
          .join(' ')
      }
      if (token.type === 'list') return plainText((token as Tokens.List).items)
      if (token.tokens !== undefined) return plainText(token.tokens) + (isBlock(token) ? ' ' : '')
      return 'text' in token ? String(token['text']) : token.raw
    })
    .join('')
}

const isBlock = ({ type }: Tokens.Generic): boolean =>
  ['paragraph', 'list_item', 'blockquote'].includes(type)
