export const allowedImports: Readonly<Record<string, readonly string[]>>
