//! What the leaderboard is asked for: filters, sort and selection, to and from the address of the page.
//!
//! Pure, and without the browser: the page only draws what [`select`] answers. Nothing here knows a list of
//! engines or models; what stands in the data is what can be chosen.

use std::cmp::Ordering;

use crate::chart::Scale;
use crate::chart::sanitise::admit;
use crate::index::{Cell, Entry, IndexPage, Row};
use crate::metric::{self, Better, METRICS};
use crate::statistics::{self, sort_by};
use crate::workload::Regime;

/// The metric that every leaderboard shows beside the chosen one.
pub const TTFT: &str = "client_wall_ttft_s";

/// The published rows, ready to be asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Board {
    /// The submissions.
    pub entries: Vec<Entry>,
    /// Their cases.
    pub rows: Vec<Row>,
    /// Per row: everything that a search looks at, in lower case.
    haystacks: Vec<String>,
}

/// A question, as it stands in the address. What is `None` is left to the data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// The regime.
    pub regime: Option<Regime>,
    /// The case within it.
    pub case: CaseChoice,
    /// Tag of the metric.
    pub metric: Option<String>,
    /// Models; empty means all.
    pub models: Chosen,
    /// Engines; empty means all.
    pub engines: Chosen,
    /// Words that a row must all have, anywhere in its names.
    pub search: String,
    /// The order, where it is not the best first.
    pub sort: Option<Sort>,
    /// Ids of submissions that are picked to be compared, in the order in which they were picked.
    pub picks: Vec<String>,
}

/// So many submissions are compared at most: as many have a colour and a shape of their own.
pub const MOST_PICKS: usize = crate::chart::theme::SERIES;

/// Values of a facet that rows are narrowed to, in the order of the alphabet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chosen(Vec<String>);

impl Chosen {
    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this one is.
    pub fn contains(&self, value: &str) -> bool {
        self.0.iter().any(|chosen| chosen == value)
    }

    /// Every one.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Chooses a value, or lets it go.
    pub fn toggle(&mut self, value: &str) {
        if self.contains(value) {
            self.0.retain(|chosen| chosen != value);
        } else {
            let place = self.0.partition_point(|chosen| chosen.as_str() < value);
            self.0.insert(place, value.to_owned());
        }
    }

    fn insert(&mut self, value: &str) {
        if !self.contains(value) {
            self.toggle(value);
        }
    }
}

impl<const N: usize> From<[&str; N]> for Chosen {
    fn from(values: [&str; N]) -> Self {
        let mut chosen = Self::default();
        for value in values {
            chosen.insert(value);
        }
        chosen
    }
}

/// Which cases of the regime are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CaseChoice {
    /// The one in which most submissions have the regime's headline figure.
    #[default]
    Commonest,
    /// Every case, one below the other.
    All,
    /// This one.
    One(CaseKey),
}

/// What makes two cases of two submissions the same: their name and their number of streams.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseKey {
    /// Name of the case.
    pub id: String,
    /// Concurrent streams.
    pub streams: u32,
}

/// An order of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// By which column.
    pub column: Column,
    /// Largest, or last in the alphabet, first.
    pub descending: bool,
}

/// A column by which rows can be ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Name of the submission.
    Name,
    /// Name of the case.
    Case,
    /// Prompt tokens.
    Prompt,
    /// The chosen metric.
    Value,
    /// Time to first token.
    Ttft,
    /// Runs.
    Runs,
    /// When it was measured.
    Date,
}

impl Column {
    const ALL: [Self; 7] =
        [Self::Name, Self::Case, Self::Prompt, Self::Value, Self::Ttft, Self::Runs, Self::Date];

    /// The name in the address.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Case => "case",
            Self::Prompt => "prompt",
            Self::Value => "value",
            Self::Ttft => "ttft",
            Self::Runs => "runs",
            Self::Date => "date",
        }
    }
}

/// A value that rows can be narrowed to, and how many of them would be left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facet {
    /// The value as it stands in the data, or in the address.
    pub value: String,
    /// Rows that have it and pass every other filter.
    pub count: usize,
    /// Whether the question names it.
    pub chosen: bool,
}

/// What a question gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Regimes that exist, in the order of the page, with their rows.
    pub regimes: Vec<(Regime, usize)>,
    /// The regime that is shown.
    pub regime: Regime,
    /// Cases of the regime, those that most submissions have first, with their rows.
    pub cases: Vec<(CaseKey, usize)>,
    /// The case that is shown; `None` for all of them.
    pub case: Option<CaseKey>,
    /// Metrics that rows of the regime have, in the order of [`METRICS`], the sources' own last.
    pub metrics: Vec<String>,
    /// The metric that is shown.
    pub metric: String,
    /// Models to narrow to.
    pub models: Vec<Facet>,
    /// Engines to narrow to.
    pub engines: Vec<Facet>,
    /// The order that is shown.
    pub sort: Sort,
    /// Indices of the rows that are shown, in order.
    pub rows: Vec<usize>,
    /// Rows of the regime and case before any filter.
    pub of: usize,
}

impl Board {
    /// Takes up a page of the index.
    pub fn of(page: &IndexPage) -> Self {
        let mut board = Self::default();
        board.add(page);
        board
    }

    /// Takes up a further page of the index.
    pub fn add(&mut self, page: &IndexPage) {
        let shift = self.entries.len();
        self.entries.extend(page.entries.iter().cloned());
        for mut row in page.rows() {
            row.entry += shift;
            self.haystacks.push(haystack(&self.entries[row.entry], &row));
            self.rows.push(row);
        }
    }

    /// The submission of a row.
    pub fn entry(&self, row: &Row) -> Option<&Entry> {
        self.entries.get(row.entry)
    }
}

fn haystack(entry: &Entry, row: &Row) -> String {
    let mut text = String::new();
    let optional = [&entry.engine_version, &entry.quantisation, &entry.date].map(Option::as_deref);
    let names =
        [&entry.label, &entry.engine, &entry.model, &entry.hardware, &entry.origin, &row.case, &row.workload];
    for part in names.into_iter().map(String::as_str).chain(optional.into_iter().flatten()) {
        text.push_str(&part.to_ascii_lowercase());
        text.push('\n');
    }
    text
}

impl CaseKey {
    /// The case of a row.
    pub fn of(row: &Row) -> Self {
        Self { id: row.case.clone(), streams: row.concurrency }
    }

    /// `code · 1 stream`.
    pub fn title(&self) -> String {
        let plural = if self.streams == 1 { "" } else { "s" };
        format!("{} · {} stream{plural}", self.id, self.streams)
    }

    fn to_param(&self) -> String {
        format!("{},{}", self.id, self.streams)
    }

    fn from_param(param: &str) -> Option<Self> {
        let (id, streams) = param.rsplit_once(',')?;
        Some(Self { id: id.to_owned(), streams: streams.parse().ok()? })
    }
}

impl Query {
    /// Whether anything narrows the rows of the regime and case.
    pub fn filters(&self) -> bool {
        !(self.models.is_empty() && self.engines.is_empty() && self.search.trim().is_empty())
    }

    /// The same question without its filters.
    #[must_use]
    pub fn without_filters(&self) -> Self {
        Self { models: Chosen::default(), engines: Chosen::default(), search: String::new(), ..self.clone() }
    }

    /// Picks a submission, or lets it go. Beyond [`MOST_PICKS`] nothing is picked.
    pub fn pick(&mut self, id: &str) {
        let before = self.picks.len();
        self.picks.retain(|known| known != id);
        if self.picks.len() == before && before < MOST_PICKS {
            self.picks.push(id.to_owned());
        }
    }

    /// The question as it stands in the address, without a question mark; empty for the question of a first visit.
    pub fn to_params(&self) -> String {
        let mut params = Vec::new();
        let mut put = |key: &str, value: &str| params.push(format!("{key}={}", encode(value)));
        if let Some(regime) = self.regime {
            put("regime", regime.tag());
        }
        match &self.case {
            CaseChoice::Commonest => {}
            CaseChoice::All => put("case", "all"),
            CaseChoice::One(key) => put("case", &key.to_param()),
        }
        if let Some(metric) = &self.metric {
            put("metric", metric);
        }
        for model in self.models.iter() {
            put("model", model);
        }
        for engine in self.engines.iter() {
            put("engine", engine);
        }
        if !self.search.is_empty() {
            put("search", &self.search);
        }
        if let Some(Sort { column, descending }) = self.sort {
            put("sort", &format!("{}{}", if descending { "-" } else { "" }, column.tag()));
        }
        if !self.picks.is_empty() {
            put("pick", &self.picks.join(","));
        }
        params.join("&")
    }

    /// The question of an address. What it does not understand is left to the data, so that an old or a damaged
    /// link still opens.
    pub fn from_params(params: &str) -> Self {
        let mut query = Self::default();
        for pair in params.split('&') {
            let Some((key, value)) = pair.split_once('=') else { continue };
            let value = decode(value);
            match key {
                "regime" => query.regime = Some(Regime::from_tag(&value)),
                "case" if value == "all" => query.case = CaseChoice::All,
                "case" => {
                    query.case = CaseKey::from_param(&value).map_or(CaseChoice::Commonest, CaseChoice::One);
                }
                "metric" => query.metric = Some(value),
                "model" => query.models.insert(&value),
                "engine" => query.engines.insert(&value),
                "search" => query.search = value,
                "sort" => {
                    let tag = value.strip_prefix('-').unwrap_or(&value);
                    let column = Column::ALL.into_iter().find(|c| c.tag() == tag);
                    query.sort = column.map(|column| Sort { column, descending: value.starts_with('-') });
                }
                "pick" => {
                    for id in value.split(',').filter(|id| !id.is_empty()) {
                        if !query.picks.iter().any(|known| known == id) {
                            query.pick(id);
                        }
                    }
                }
                _ => {}
            }
        }
        query
    }
}

/// Answers a question.
pub fn select(board: &Board, query: &Query) -> Selection {
    let regimes = regimes(board);
    let regime =
        query.regime.or_else(|| regimes.first().map(|(regime, _)| *regime)).unwrap_or(Regime::Decode);
    let in_regime: Vec<usize> = (0..board.rows.len()).filter(|&i| board.rows[i].regime == regime).collect();

    let cases = cases(board, &in_regime);
    let case = match &query.case {
        CaseChoice::All => None,
        CaseChoice::One(key) => Some(key.clone()),
        CaseChoice::Commonest => commonest(board, &in_regime, regime, &cases),
    };
    let in_case: Vec<usize> = in_regime
        .iter()
        .copied()
        .filter(|&i| case.as_ref().is_none_or(|key| is(&board.rows[i], key)))
        .collect();

    let metrics = metrics(board, &in_regime);
    let metric = query.metric.clone().unwrap_or_else(|| first_metric(board, &in_case, regime, &metrics));

    let words: Vec<String> = query.search.split_whitespace().map(str::to_ascii_lowercase).collect();
    let found: Vec<usize> = in_case
        .iter()
        .copied()
        .filter(|&i| words.iter().all(|word| board.haystacks[i].contains(word.as_str())))
        .collect();
    let model = |i: usize| board.entries[board.rows[i].entry].model.as_str();
    let engine = |i: usize| board.entries[board.rows[i].entry].engine.as_str();
    let has_model = |i: &usize| query.models.is_empty() || query.models.contains(model(*i));
    let has_engine = |i: &usize| query.engines.is_empty() || query.engines.contains(engine(*i));

    let sort = query.sort.unwrap_or_else(|| best_first(&metric));
    let mut rows: Vec<usize> = found.iter().copied().filter(|i| has_model(i) && has_engine(i)).collect();
    sort_by(&mut rows, &|a, b| order(board, &metric, sort, a, b));
    Selection {
        models: facets(&mut found.iter().filter(|i| has_engine(i)).map(|&i| model(i)), &query.models),
        engines: facets(&mut found.iter().filter(|i| has_model(i)).map(|&i| engine(i)), &query.engines),
        of: in_case.len(),
        regimes,
        regime,
        cases,
        case,
        metrics,
        metric,
        sort,
        rows,
    }
}

/// The order in which the best of a metric comes first; where neither way is better, the largest does.
pub fn best_first(metric: &str) -> Sort {
    let lower = metric::find(metric).is_some_and(|m| m.better == Better::Lower);
    Sort { column: Column::Value, descending: !lower }
}

/// What a cell is ordered by: its point, or the middle of a stated range. A number beyond belief, which no figure
/// draws, is the best of nothing.
pub fn rank_value(cell: &Cell) -> Option<f64> {
    let value = cell.value.or_else(|| cell.range.map(|(low, high)| f64::midpoint(low, high)));
    value.filter(|v| admit(*v, Scale::Linear).is_ok())
}

fn is(row: &Row, key: &CaseKey) -> bool {
    row.case == key.id && row.concurrency == key.streams
}

fn regimes(board: &Board) -> Vec<(Regime, usize)> {
    let all = Regime::ALL.into_iter().chain([Regime::Other]);
    all.map(|regime| (regime, board.rows.iter().filter(|row| row.regime == regime).count()))
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Cases with their rows, those that most have first.
fn cases(board: &Board, rows: &[usize]) -> Vec<(CaseKey, usize)> {
    let mut cases: Vec<(CaseKey, usize)> = Vec::new();
    for &i in rows {
        match cases.iter_mut().find(|(key, _)| is(&board.rows[i], key)) {
            Some((_, count)) => *count += 1,
            None => cases.push((CaseKey::of(&board.rows[i]), 1)),
        }
    }
    in_order(&cases, &|(a, count_a), (b, count_b)| count_b.cmp(count_a).then_with(|| a.cmp(b)))
}

/// The case with the most points of the regime's headline metric; of several, the one that most submissions have.
fn commonest(board: &Board, rows: &[usize], regime: Regime, cases: &[(CaseKey, usize)]) -> Option<CaseKey> {
    let points = |key: &CaseKey| {
        let of_case = rows.iter().map(|&i| &board.rows[i]).filter(|row| is(row, key));
        of_case
            .filter(|row| row.cells.get(regime.headline()).is_some_and(|cell| cell.value.is_some()))
            .count()
    };
    let mut best: Option<(&CaseKey, usize)> = None;
    for (key, _) in cases {
        let points = points(key);
        if best.is_none_or(|(_, most)| points > most) {
            best = Some((key, points));
        }
    }
    best.map(|(key, _)| key.clone())
}

fn metrics(board: &Board, rows: &[usize]) -> Vec<String> {
    let mut tags: Vec<&str> = Vec::new();
    for tag in rows.iter().flat_map(|&i| board.rows[i].cells.names()) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let place = |tag: &str| METRICS.iter().position(|m| m.tag == tag).unwrap_or(METRICS.len());
    in_order(&tags, &|a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)))
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// The items in an order.
fn in_order<T: Clone>(items: &[T], compare: &dyn Fn(&T, &T) -> Ordering) -> Vec<T> {
    statistics::order(items.len(), &|a, b| compare(&items[a], &items[b]))
        .into_iter()
        .map(|i| items[i].clone())
        .collect()
}

/// The regime's headline, unless no row that is shown has it and one has another.
fn first_metric(board: &Board, rows: &[usize], regime: Regime, metrics: &[String]) -> String {
    let headline = regime.headline();
    let some_row_has = |tag: &str| rows.iter().any(|&i| board.rows[i].cells.get(tag).is_some());
    if some_row_has(headline) {
        return headline.to_owned();
    }
    metrics.iter().find(|tag| some_row_has(tag)).map_or_else(|| headline.to_owned(), Clone::clone)
}

fn facets(values: &mut dyn Iterator<Item = &str>, chosen: &Chosen) -> Vec<Facet> {
    let facet = |value: &str, count| Facet { value: value.to_owned(), count, chosen: chosen.contains(value) };
    let mut facets: Vec<Facet> = chosen.iter().map(|value| facet(value, 0)).collect();
    for value in values {
        match facets.iter_mut().find(|facet| facet.value == value) {
            Some(facet) => facet.count += 1,
            None => facets.push(facet(value, 1)),
        }
    }
    in_order(&facets, &|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)))
}

/// Rows without the number come last whichever way the others run: unknown is neither large nor small.
fn order(board: &Board, metric: &str, sort: Sort, a: usize, b: usize) -> Ordering {
    let (row_a, row_b) = (&board.rows[a], &board.rows[b]);
    let (entry_a, entry_b) = (&board.entries[row_a.entry], &board.entries[row_b.entry]);
    let turn = |ordering: Ordering| if sort.descending { ordering.reverse() } else { ordering };
    let numbers = |of: &dyn Fn(&Row) -> Option<f64>| match (of(row_a), of(row_b)) {
        (Some(x), Some(y)) => turn(x.total_cmp(&y)),
        (x, y) => y.is_some().cmp(&x.is_some()),
    };
    let value = |tag: &str| numbers(&|row| row.cells.get(tag).and_then(rank_value));
    let name = || names(entry_a).cmp(&names(entry_b));
    let chosen = match sort.column {
        Column::Name => turn(name()),
        Column::Case => turn((&row_a.case, row_a.concurrency).cmp(&(&row_b.case, row_b.concurrency))),
        Column::Prompt => numbers(&|row| row.prompt_tokens),
        Column::Value => value(metric),
        Column::Ttft => value(TTFT),
        Column::Runs => numbers(&|row| row.runs.or_else(|| row.cells.get(metric)?.n).map(|n| n as f64)),
        Column::Date => match (&entry_a.date, &entry_b.date) {
            (Some(x), Some(y)) => turn(x.cmp(y)),
            (x, y) => y.is_some().cmp(&x.is_some()),
        },
    };
    chosen.then_with(name).then_with(|| row_a.case.cmp(&row_b.case)).then(a.cmp(&b))
}

fn names(entry: &Entry) -> (String, String, &str) {
    (entry.engine.to_ascii_lowercase(), entry.model.to_ascii_lowercase(), &entry.label)
}

/// Percent-encoding of everything but letters, digits and `-._~,`.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~,".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            for nibble in [byte >> 4, byte & 15] {
                encoded.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0').to_ascii_uppercase());
            }
        }
    }
    encoded
}

/// The text of a percent-encoding; what is not one stays as it is.
pub fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        let digits = tail.get(..2).and_then(|pair| {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()
        });
        if let (b'%', Some(value)) = (byte, digits) {
            decoded.push(value);
            rest = &tail[2..];
        } else {
            decoded.push(if byte == b'+' { b' ' } else { byte });
            rest = tail;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submission::{StatedEstimate, Submission};
    use crate::testing::{shard_of, single_stream_case};

    fn submission(engine: &str, model: &str, cases: &[(&str, f64)]) -> Submission {
        let cases = cases.iter().map(|&(id, span)| single_stream_case(id, &[(513, span); 4])).collect();
        let mut submission = shard_of(cases);
        submission.system.engine.name = engine.into();
        submission.system.model.name = model.into();
        submission
    }

    fn board(submissions: &[Submission]) -> Board {
        let mut page = IndexPage::default();
        for (i, submission) in submissions.iter().enumerate() {
            page.push(&format!("{i:016x}"), submission);
        }
        Board::of(&page)
    }

    fn three() -> Board {
        board(&[
            submission("llama.cpp", "SmolLM2", &[("code", 10.0), ("prose", 9.0)]),
            submission("vLLM", "SmolLM2", &[("code", 5.0)]),
            submission("vLLM", "Qwen3", &[("code", 20.0)]),
        ])
    }

    fn engines_shown(board: &Board, query: &Query) -> Vec<String> {
        let selection = select(board, query);
        selection.rows.iter().map(|&i| board.entry(&board.rows[i]).unwrap().engine.clone()).collect()
    }

    fn asked(params: &str) -> Query {
        Query::from_params(params)
    }

    #[test]
    fn a_first_visit_sees_the_commonest_case_with_the_best_first() {
        let board = three();
        let selection = select(&board, &Query::default());
        assert_eq!(selection.regimes, [(Regime::Decode, 4)]);
        assert_eq!(selection.case.as_ref().map(CaseKey::title).as_deref(), Some("code · 1 stream"));
        assert_eq!(selection.metric, "client_wall_decode_tok_s");
        let rates: Vec<f64> = selection
            .rows
            .iter()
            .filter_map(|&i| board.rows[i].cells.get(&selection.metric)?.value)
            .collect();
        assert_eq!(rates, [102.4, 51.2, 25.6]);
    }

    #[test]
    fn a_case_without_the_headline_figure_is_not_shown_first_however_common() {
        let stated = |engine: &str| {
            let mut case = single_stream_case("aged", &[]);
            case.stated = vec![StatedEstimate {
                metric: "engine_decode_tok_s".into(),
                value: Some(15.0),
                ..StatedEstimate::default()
            }];
            let mut submission = submission(engine, "m", &[]);
            submission.cases.push(case);
            submission
        };
        let board = board(&[stated("a"), stated("b"), submission("c", "m", &[("code", 5.0)])]);
        let shown = |params: &str| select(&board, &asked(params)).case.map(|key| key.id);
        assert_eq!(shown("").as_deref(), Some("code"));
        assert_eq!(shown("case=aged,1").as_deref(), Some("aged"));
        assert_eq!(shown("case=all"), None);
    }

    #[test]
    fn every_question_survives_its_address() {
        let queries = [
            Query::default(),
            Query {
                regime: Some(Regime::ColdPrefill),
                case: CaseChoice::One(CaseKey { id: "a,b & c=d".into(), streams: 8 }),
                metric: Some("engine_prefill_tok_s".into()),
                models: ["千问 3 + <img>", "50 %"].into(),
                engines: ["llama.cpp"].into(),
                search: "rtx 4000 #1".into(),
                sort: Some(Sort { column: Column::Ttft, descending: true }),
                picks: vec!["b1".into(), "a2".into()],
            },
            Query { case: CaseChoice::All, ..Query::default() },
        ];
        for query in queries {
            let params = query.to_params();
            assert!(params.is_ascii() && !params.contains([' ', '#', '<']), "{params}");
            assert_eq!(Query::from_params(&params), query, "{params}");
        }
        assert_eq!(Query::default().to_params(), "");
    }

    #[test]
    fn a_damaged_address_still_opens() {
        let query = asked("regime=agentic&case=code&sort=beauty&engine=%zz%E4%&&x&metric=own_metric&=");
        assert_eq!(query.regime, Some(Regime::Other));
        assert_eq!((query.case, query.sort), (CaseChoice::Commonest, None));
        assert_eq!(query.metric.as_deref(), Some("own_metric"));
        assert_eq!(query.engines.iter().count(), 1);
    }

    #[test]
    fn picks_keep_their_order_and_end_at_the_most_that_are_compared() {
        let mut query = asked("pick=b,a,,b,c");
        assert_eq!(query.picks, ["b", "a", "c"]);
        query.pick("a");
        assert_eq!(query.picks, ["b", "c"]);
        for id in 0..20 {
            query.pick(&id.to_string());
        }
        assert_eq!(query.picks.len(), MOST_PICKS);
    }

    #[test]
    fn facets_count_what_exists_beside_the_other_filters() {
        let board = three();
        let selection = select(&board, &asked("model=SmolLM2"));
        let engines: Vec<(&str, usize)> =
            selection.engines.iter().map(|f| (f.value.as_str(), f.count)).collect();
        assert_eq!(engines, [("llama.cpp", 1), ("vLLM", 1)]);
        let models: Vec<(&str, usize, bool)> =
            selection.models.iter().map(|f| (f.value.as_str(), f.count, f.chosen)).collect();
        assert_eq!(models, [("SmolLM2", 2, true), ("Qwen3", 1, false)]);
        assert_eq!((selection.rows.len(), selection.of), (2, 3));
    }

    #[test]
    fn a_filter_that_nothing_passes_stays_in_sight() {
        let board = three();
        let selection = select(&board, &asked("engine=NeverSeen"));
        assert!(selection.rows.is_empty());
        assert!(selection.engines.contains(&Facet { value: "NeverSeen".into(), count: 0, chosen: true }));
    }

    #[test]
    fn a_search_needs_all_its_words_in_any_case_and_order() {
        let board = three();
        assert_eq!(engines_shown(&board, &asked("search=smollm2+VLLM")), ["vLLM"]);
        assert_eq!(engines_shown(&board, &asked("search=qwen3 llama")), [""; 0]);
    }

    #[test]
    fn a_row_without_the_metric_is_last_whichever_way_the_others_run() {
        let mut silent = submission("Ollama", "SmolLM2", &[]);
        let mut case = single_stream_case("code", &[]);
        case.stated = vec![StatedEstimate {
            metric: "engine_decode_tok_s".into(),
            value: Some(15.59),
            ..StatedEstimate::default()
        }];
        silent.cases.push(case);
        let board = board(&[silent, submission("vLLM", "SmolLM2", &[("code", 5.0)])]);
        for params in ["", "sort=value", "sort=-value", "sort=ttft", "sort=-ttft"] {
            assert_eq!(engines_shown(&board, &asked(params)), ["vLLM", "Ollama"], "{params}");
        }
        assert_eq!(engines_shown(&board, &asked("metric=engine_decode_tok_s")), ["Ollama", "vLLM"]);
    }

    #[test]
    fn times_are_ordered_with_the_shortest_first() {
        let sort = select(&three(), &asked("metric=client_wall_e2e_s")).sort;
        assert_eq!(sort, Sort { column: Column::Value, descending: false });
        assert_eq!(engines_shown(&three(), &asked("sort=name")), ["llama.cpp", "vLLM", "vLLM"]);
    }

    #[test]
    fn a_range_without_a_point_is_ordered_by_its_middle() {
        let mut ranged = submission("FreeToken", "SmolLM2", &[]);
        let mut case = single_stream_case("code", &[]);
        case.stated = vec![StatedEstimate {
            metric: "client_wall_decode_tok_s".into(),
            min: Some(60.0),
            max: Some(70.0),
            ..StatedEstimate::default()
        }];
        ranged.cases.push(case);
        let board = board(&[
            submission("slow", "m", &[("code", 20.0)]),
            ranged,
            submission("fast", "m", &[("code", 5.0)]),
        ]);
        assert_eq!(engines_shown(&board, &Query::default()), ["fast", "FreeToken", "slow"]);
    }

    #[test]
    fn a_number_beyond_belief_is_not_the_best() {
        let with = |engine: &str, value: f64| {
            let mut case = single_stream_case("code", &[]);
            case.stated = vec![StatedEstimate {
                metric: "client_wall_decode_tok_s".into(),
                value: Some(value),
                ..StatedEstimate::default()
            }];
            let mut submission = submission(engine, "m", &[]);
            submission.cases.push(case);
            submission
        };
        let board = board(&[with("absurd", 1e300), with("slow", 1.0), with("fast", 90.0)]);
        assert_eq!(engines_shown(&board, &Query::default()), ["fast", "slow", "absurd"]);
    }

    #[test]
    fn an_empty_board_answers_too() {
        let selection = select(&Board::default(), &Query::default());
        assert!(selection.rows.is_empty() && selection.regimes.is_empty() && selection.metrics.is_empty());
    }
}
