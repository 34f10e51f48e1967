/** Saves text as a file of the reader's device. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken the content when the click is over.
  setTimeout(() => URL.revokeObjectURL(url))
}
