export default async () => {
  return ['\ud800'.isWellFormed(), '\ud800a'.toWellFormed()]
}
