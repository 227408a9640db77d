import { Pool, type PoolClient } from 'pg';

type Done = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

/** A pool of node-postgres that reports each failure to hand out a connection, which it emits no event for. */
export class ObservedPool extends Pool {
  /** Called with each error of `connect`. */
  onFailure: (error: Error) => void = () => undefined;

  override connect(): Promise<PoolClient>;
  override connect(done: Done): void;
  override connect(done?: Done): Promise<PoolClient> | undefined {
    if (done === undefined) {
      return super.connect().catch((error: Error) => {
        this.onFailure(error);
        throw error;
      });
    }
    super.connect((error, client, release) => {
      if (error !== undefined && error !== null) this.onFailure(error);
      done(error, client, release);
    });
    return undefined;
  }
}
