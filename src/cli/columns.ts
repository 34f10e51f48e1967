import stringWidth from 'string-width'

/** Rows as text, each column as wide as its widest cell. Characters of some scripts are two columns of a terminal wide. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, stringWidth(cell))))
  }
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - stringWidth(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Removes control characters: strangers choose some texts, and no terminal is to act on them. */
export const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
