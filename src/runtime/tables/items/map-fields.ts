type Fields<Value> = Readonly<Record<string, Value>>

/** The same names with other values. A field called `__proto__` stays a field. */
export function mapFields<From, To>(fields: Fields<From>, map: (value: From) => To): Fields<To> {
  const mapped: Record<string, To> = {}
  for (const name of Object.keys(fields)) {
    // Every name is one of its own.
    const value = map(fields[name] as From)
    if (name === '__proto__') define(mapped, name, value)
    else mapped[name] = value
  }
  return mapped
}

/** Those of these names that are there, in the order of the names. */
export const fieldsNamed = <Value>(fields: Fields<Value>, names: Iterable<string>): Fields<Value> =>
  Object.fromEntries(
    Array.from(names).flatMap((name) =>
      // Every one of them is a field.
      Object.hasOwn(fields, name) ? [[name, fields[name] as Value]] : [],
    ),
  )

/** Assigning it would change the prototype. */
function define(fields: object, name: string, value: unknown): void {
  Object.defineProperty(fields, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}
