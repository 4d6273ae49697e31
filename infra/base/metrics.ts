/** Metrics as the pure parts see them; `infra/metrics` implements them with prom-client. */
export type MetricLabels = Readonly<Record<string, string>>;

export interface Metrics {
  /** Adds `by` (default 1) to the counter `name`. */
  count(name: string, labels?: MetricLabels, by?: number): void;
  /** Sets the gauge `name`. */
  gauge(name: string, value: number, labels?: MetricLabels): void;
  /** Records one observation of the histogram `name`, in the unit of its name. */
  observe(name: string, value: number, labels?: MetricLabels): void;
}

export const noMetrics: Metrics = { count() {}, gauge() {}, observe() {} };
