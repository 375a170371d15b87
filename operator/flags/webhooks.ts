import { isSelected } from './controllers';

/** Names that `--webhooks` may say, besides `*`; each is served at the path of its name. */
export const WEBHOOK_NAMES = ['persistent-volume-label'] as const;

export type WebhookName = (typeof WEBHOOK_NAMES)[number];

/** The webhooks that `--webhooks` selects. */
export function selectedWebhooks(list: readonly string[]): WebhookName[] {
  return WEBHOOK_NAMES.filter((name) => isSelected(name, list));
}
