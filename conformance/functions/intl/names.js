export default async () => Object.getOwnPropertyNames(Intl).sort()
