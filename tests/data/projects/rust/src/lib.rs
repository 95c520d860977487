pub fn slug(title: &str) -> String {
    title.to_lowercase()
}

#[cfg(test)]
mod tests {
    #[test]
    fn blanks_become_dashes() {
        assert_eq!(super::slug("Two Words"), "two-words");
    }
}
