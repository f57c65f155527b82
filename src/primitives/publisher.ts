/** The address of this package's documents on the web; null until `scripts/publisher.ts` writes who publishes it. */
export const documents: string | null = null;
