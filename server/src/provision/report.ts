import { isDeepStrictEqual } from 'node:util';
import { limits } from '@homeport/contracts/limits';
import type { ProvisionReport } from '@homeport/contracts/provision/provision';

const warningsMax = 500;

type Counted = 'users' | 'providers' | 'models' | 'assistants' | 'prompts' | 'mcpOffers';

/** Report of the effects of a manifest: counts, warnings and a line for each change. */
export class Report {
  readonly applied: Required<ProvisionReport['applied']> = {
    users: { created: 0, updated: 0, unchanged: 0 },
    providers: { created: 0, updated: 0, unchanged: 0 },
    models: { created: 0, updated: 0, unchanged: 0 },
    assistants: { created: 0, updated: 0, unchanged: 0 },
    prompts: { created: 0, updated: 0, unchanged: 0 },
    mcpOffers: { created: 0, updated: 0, unchanged: 0 },
    conversations: { created: 0, skipped: 0 },
  };
  readonly #changes: ProvisionReport['changes'] = [];
  readonly #warnings: string[] = [];
  #changesLeftOut = 0;
  #warningsLeftOut = 0;

  created(kind: Counted, path: string, summary: string): void {
    this.applied[kind].created += 1;
    this.change(path, 'create', summary);
  }

  /** Counts an existing entry as updated or unchanged, depending on the differences found. */
  compared(kind: Counted, path: string, name: string, differences: readonly string[]): void {
    if (differences.length === 0) {
      this.applied[kind].unchanged += 1;
      return;
    }
    this.applied[kind].updated += 1;
    this.change(path, 'update', `${name}: ${differences.join(', ')}`);
  }

  change(path: string, action: 'create' | 'update', summary: string): void {
    if (this.#changes.length < limits.provisionChangesMax) this.#changes.push({ path, action, summary });
    else this.#changesLeftOut += 1;
  }

  warn(path: string, message: string): void {
    if (this.#warnings.length < warningsMax) this.#warnings.push(`${path}: ${message}`);
    else this.#warningsLeftOut += 1;
  }

  toJson(dryRun: boolean): ProvisionReport {
    const more = this.#warningsLeftOut === 0 ? [] : [`and ${this.#warningsLeftOut} more warnings`];
    const { assistants, prompts, mcpOffers, ...applied } = this.applied;
    return {
      applied: {
        ...applied,
        ...(isAny(assistants) ? { assistants } : {}),
        ...(isAny(prompts) ? { prompts } : {}),
        ...(isAny(mcpOffers) ? { mcpOffers } : {}),
      },
      warnings: [...this.#warnings, ...more],
      dryRun,
      changes: this.#changes,
      changesLeftOut: this.#changesLeftOut,
    };
  }
}

function isAny(counts: object): boolean {
  return Object.values(counts).some((count) => count > 0);
}

const shownMax = 80;

/**
 * The given fields of `wanted` that differ from `stored` (absent there means null), a phrase for each: `role user →
 * admin`.
 */
export function differences(
  stored: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(wanted)
    .filter(([name, value]) => value !== undefined && !isDeepStrictEqual(value, stored[name] ?? null))
    .map(([name, value]) =>
      isShown(name, value) ? `${name} ${shown(stored[name])} → ${shown(value)}` : `${name} changed`,
    );
}

/** False for instructions, which are private, and for structured values. */
function isShown(name: string, value: unknown): boolean {
  return name !== 'instructions' && (typeof value !== 'object' || value === null);
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? `"${value}"` : String(value);
  return text.length > shownMax ? `${text.slice(0, shownMax).toWellFormed()}…` : text;
}
