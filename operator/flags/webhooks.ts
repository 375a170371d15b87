/** Names that `--webhooks` may say, besides `*`. */
export const WEBHOOK_NAMES: readonly string[] = [];
