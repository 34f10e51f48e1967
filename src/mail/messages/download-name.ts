const MAX_CHARACTERS = 150

/** The name under which an attachment is saved: what its sender wrote, without a path, and nothing that hides its end. */
export function downloadNameOf(filename: string): string {
  const last = filename.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  // Control characters, and those that turn the direction of text around.
  const plain = last.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').replaceAll(/[<>:"|?*]/g, '_')
  const name = plain.replace(/^[.\s]+/, '').replace(/[.\s]+$/, '')
  return name === '' ? 'attachment' : shortened(name)
}

/** Keeps the ending, which says what it is. */
function shortened(name: string): string {
  const characters = Array.from(name)
  if (characters.length <= MAX_CHARACTERS) return name
  const ending = /\.[^.]{1,10}$/.exec(name)?.[0] ?? ''
  return characters.slice(0, MAX_CHARACTERS - ending.length).join('') + ending
}
