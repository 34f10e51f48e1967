/** What is under that name, read in camelCase and in PascalCase: null is the same as nothing. */
export function everyFieldOf(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const fields = new Map<string, unknown>(Object.entries(value))
  return [name, name.charAt(0).toUpperCase() + name.slice(1)].flatMap((spelled) => {
    const found = fields.get(spelled) ?? null
    return found === null ? [] : [found]
  })
}
